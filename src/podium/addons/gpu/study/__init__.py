"""Studies of packing: many small runs of one model, in batches rather than through the engine.

GPU packing: six published policies, and those of users, receive the same stream of pods on the same
cluster until 130 % of its GPUs have been asked for. The model has CPU, memory, devices and models;
pods only arrive. The rules are written down once for numpy (`policies`, `fragmentation`), once for
compilers (`numba_engine`) and once for GPUs (`packing_kernel.cu`); tests hold all three to the same
placements, pod by pod.
"""
