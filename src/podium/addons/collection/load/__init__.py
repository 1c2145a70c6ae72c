"""Plugins that place pods by measured load, with the arguments and arithmetic of Trimaran.

    metric_provider.py, load_source.py     whom to ask; the source for it
    loads.py                               what was measured, in one form for all providers
    load_watcher.py, metrics_server.py, prometheus_loads.py
                                           one way to ask each
    load_columns.py, pod_columns.py        measurements and pods on nodes, as columns
    target_load_packing.py, load_variation_risk_balancing.py, low_risk_over_commitment.py, peaks.py

Source: `pkg/trimaran` in `kubernetes-sigs/scheduler-plugins`; data as in `paypal/load-watcher`.
"""
