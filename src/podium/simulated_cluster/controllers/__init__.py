"""Controllers: one file each, and what several of them share.

Each file has a pure decision, from objects to a `Plan`, and a small class that gathers the objects
from the informers and says which changes concern which key. Rules are those of
kube-controller-manager as far as pods notice them; those that the simulator needs as well are in
`podium.kubernetes.controllers`.
"""
