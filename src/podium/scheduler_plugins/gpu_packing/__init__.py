"""Packing policies for pods that share GPUs, as score plugins beside GPUShare.

The policies are those of `podium.gpu.packing`, which the study compares.
"""
