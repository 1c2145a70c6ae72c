"""The server on the wire: one ASGI application with its own table of paths."""
