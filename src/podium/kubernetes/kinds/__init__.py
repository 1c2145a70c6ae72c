"""Kubernetes objects as typed values, and how they are decoded."""
