"""NodeResourceTopologyMatch: pods only where one NUMA zone can hold what has to be held together.

`topologies` is the custom kind that agents on nodes write, `reports` which of their reports is
believed, `zone_table` the reports as columns, `alignment` and `zone_scores` the rules over those
columns, `least_numa` the rule that counts zones, `plugin` the points.
"""
