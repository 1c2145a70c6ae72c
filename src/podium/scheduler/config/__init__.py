"""What the scheduler is told: its configuration file, plugin arguments and feature gates.

Everything here is pure: plain values in, typed values or a `ConfigurationError` out. Reading files
is somebody else's work, and so is knowing the plugins, of which this package has only the names and
the shape of their arguments.
"""
