"""Studies of packing: many small runs of one model, in batches rather than through the engine.

GPU packing: six published policies, and those of users, receive the same stream of pods on the same
cluster until 130 % of its GPUs have been asked for. The model has CPU, memory, devices and models;
pods only arrive. The rules are written once for compilers (`packing_rules`): Numba compiles them
for CPUs (`numba_engine`), and `cuda_source` writes them as C for GPUs. The reference is numpy
(`policies`, `fragmentation`, `numpy_engine`); tests hold both to its placements, pod by pod.
"""
