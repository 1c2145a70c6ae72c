"""Plugins that place pods by measured load, with the arguments and arithmetic of Trimaran.

    load_source.py    whom to ask, one way for each provider, and the source for it
    load_score.py     measurements and pods on nodes, as columns
    target_load_packing.py, load_variation_risk_balancing.py, low_risk_over_commitment.py, peaks.py
                      a plugin each

Source: `pkg/trimaran` in `kubernetes-sigs/scheduler-plugins`; data as in `paypal/load-watcher`.
"""
