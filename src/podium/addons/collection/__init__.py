"""Plugins beside kube-scheduler's own: gangs, quotas, load, traffic, images.

Each has the name, the arguments and the behaviour that it has where it comes from, most of them in
the collection `kubernetes-sigs/scheduler-plugins`. They are part of Podium and off until a
configuration names them; only then is their code imported.

They are written with what every plugin is written with (`podium.plugin`). What they fetch from
outside comes through sources, and sources alone talk to the network.
"""
