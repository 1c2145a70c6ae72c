"""SySched: pods beside pods that may call the same system calls.

`syscall_profiles` is the custom kind and what pods are allowed, `host_syscalls` what the pods of a
node are allowed together, `plugin` the score.
"""
