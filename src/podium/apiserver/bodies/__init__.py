"""Reading what clients send: JSON or YAML into values, with Go's words where it is neither."""
