"""CapacityScheduling: quotas of namespaces that may borrow from each other what nobody uses.

`elastic_quotas` is the custom kind, `quota_usage` what pods take of quotas, `quota_state` the
comparisons that an attempt makes, `victims` whom a preemptor may take, `plugin` the points.
"""
