"""Selectors as they stand in a query: `labelSelector` and `fieldSelector`."""
