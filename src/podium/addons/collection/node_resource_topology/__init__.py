"""NodeResourceTopologyMatch: pods only where one NUMA zone can hold what has to be held together.

`topologies` is the custom kind that agents on nodes write, `reports` which of their reports is
believed, `zone_scores` the reports as columns and the rules over those, `numa_placement` where
containers run, `plugin` the points.
"""
