"""Exit codes, the same for every command."""

OK = 0
NO = 1
"""The answer is no: a pod does not fit, decisions differ."""
BAD_INPUT = 2
"""A file or the command line is wrong; nothing was done."""
BROKEN = 70
"""Podium itself failed."""
INTERRUPTED = 130
