"""The functions expressions can call, one module for each family of values."""
