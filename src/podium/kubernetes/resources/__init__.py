"""Which resources are served, and under which names."""
