"""Optimal placements and bounds: models of whole numbers, solved by HiGHS.

Nothing here knows the engine. A placement problem says in plain numbers what fits where; whoever
asks works that out and checks the answer with the scheduler itself
(`podium.offline.what_if.optimum`).
"""
