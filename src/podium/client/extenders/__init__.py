"""A scheduler's side of extenders: asking those that its configuration names, and their answers."""
