"""Readers of Kubernetes' Go sources, a subject each; `tools/release_data.py` joins what they find.

They read names, numbers, types and defaults, never comments for people. They know gofmt's layout
and the few idioms of the files that they read, not Go: what they do not understand is an error.
"""
