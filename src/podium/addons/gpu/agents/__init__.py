"""Simulated GPUs: the cards of nodes, and the agents that register and give out cards there."""
