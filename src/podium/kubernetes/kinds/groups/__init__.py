"""The records of the built-in kinds, one module for an API group, each with its `KINDS`.

Names, short names, categories, verbs and subresources are those of Kubernetes v1.36. Groups that
neither the scheduler, nor the tools around it, nor ordinary manifests have to do with are not
served. Loaded by `catalogue.py` when a group is first asked for.
"""
