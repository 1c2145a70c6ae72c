"""Recorded decisions of the reference scheduler: replaying, writing and comparing them."""
