"""Measuring: workloads, a runner that schedules them in-process, honest figures."""
