"""Where objects live: collections with revisions, a bounded history, and a journal on disk."""
