"""Where objects live: collections, revisions, a bounded history, and a write-ahead log on disk.

An object that was handed to the store is never changed in place again: whoever wants to change it
makes a copy first.
"""
