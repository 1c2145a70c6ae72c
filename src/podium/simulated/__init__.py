"""A simulated cluster: nodes, the pods on them, and the controllers behind them.

    SimulatedCluster(client, SimulatedClusterOptions(...)).run()    one client of an API server
    nodes.templates, pods.stage_files         what it is made from, as YAML
    controllers/                              one file each, decisions without waiting

A decision is a pure function from typed objects and a moment to a plan, by the rules of
`podium.kubernetes.controllers`; `control` and `request_executor` do everything that takes time.
"""
