"""Who lives in a simulated cluster: nodes, the pods on them, and the controllers behind them.

    Population(client, PopulationOptions(...)).run()      all of it, as one client of an API server
    nodes.templates, pods.stage_files                     what it is made from, as YAML
    controllers/                                          one file each, decisions without waiting

A decision is a pure function from typed objects and a moment to a plan; `control` and
`carrying_out` do everything that takes time.
"""

from podium.population.clock import ClusterClock
from podium.population.population import Population, PopulationOptions, Progress

__all__ = ["ClusterClock", "Population", "PopulationOptions", "Progress"]
