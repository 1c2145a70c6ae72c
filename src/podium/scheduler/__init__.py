"""What decides where pods go, and why.

Pure: no I/O, no clock, no threads, no randomness. Imports go down only: explain, engine, plugins,
framework, cluster, config.
"""
