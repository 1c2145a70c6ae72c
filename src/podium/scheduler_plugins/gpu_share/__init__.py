"""GPUShare: shares of GPUs, and whole ones, by the rules of `podium.gpu`, inside the scheduler.

The node agents stay as they are: the plugin reads what they register and writes what they expect,
in the dialect that a cluster speaks.
"""
