"""Plugins that decide by what Prometheus has measured.

source.py     a query, which node a series is about, and a number per node from it
plugins.py    PrometheusScore, PrometheusFilter, NetworkTraffic
"""
