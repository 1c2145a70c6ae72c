"""Plugins that decide by what Prometheus has measured.

query.py                                  one instant query, and its answer as samples
node_names.py                             which node a series is about
source.py                                 a number per node, by a query
network_traffic.py                        NetworkTraffic: rather nodes with little traffic
prometheus_score.py, prometheus_filter.py any query as a score, or as a limit
"""
