"""Where objects live: collections, revisions, a bounded history, and a write-ahead log on disk."""
