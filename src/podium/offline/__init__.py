"""The engine without a cluster: on files and recorded traces, in virtual time."""
