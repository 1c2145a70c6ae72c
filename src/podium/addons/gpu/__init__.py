"""Shares of GPUs: which cards a node has, what pods ask of them, which cards a pod gets.

Cards are rows of a second table. Everything here is pure: nodes and pods go in as typed objects,
and the time as a number. What resources are called, where an agent registers its cards and what it
wants written on a pod is a *dialect*; the rest knows cards, requests and allocations only. The
plugin GPUShare and the GPU extender are two doors to the same rules.
"""
