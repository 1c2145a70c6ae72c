"""How well pods are packed onto shared cards: policies that score nodes, and fragmentation.

Formulas over columns, once for the study that compares policies and for the plugins that run them.
"""
