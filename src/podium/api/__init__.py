"""Typed Kubernetes objects and the arithmetic over them."""
