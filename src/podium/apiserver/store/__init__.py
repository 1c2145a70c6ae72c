"""Where objects live: collections with revisions, a bounded history, and a journal on disk.

An object that was handed to the store is never changed in place again: whoever wants to change it
makes a copy first.
"""
