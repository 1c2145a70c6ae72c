"""Exit codes, the same for every command."""

OK = 0
NO = 1
"""The answer is no: a pod does not fit, decisions differ."""
BAD_INPUT = 2
"""A file or the command line is wrong; nothing was done."""
BROKEN = 70
"""Podium itself failed."""
CANNOT_WRITE = 74
"""The answer could not be written: the disk is full, say."""
INTERRUPTED = 130
