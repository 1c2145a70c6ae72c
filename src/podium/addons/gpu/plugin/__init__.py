"""GPUs inside the scheduler: GPUShare, shares of cards and whole ones, and policies of packing.

The node agents stay as they are: the plugin reads what they register and writes what they expect,
in the dialect that a cluster speaks.
"""
