"""Simulated nodes: made from templates, and kept alive by heartbeats."""
