"""Questions about a cluster that is not there: how much more fits, what a change would do.

Everything is asked of the scheduling engine on a cluster in memory (`podium.simulator`); nothing is
estimated and nothing real is touched.
"""
