"""Controllers that ask the API server before they decide, and so cannot be pure.

All others are in `podium.kubernetes.controllers`. Rules are those of kube-controller-manager as far
as pods notice them.
"""
