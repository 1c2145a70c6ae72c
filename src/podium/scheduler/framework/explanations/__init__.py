"""What plugins explain their refusals with: the cluster as an attempt saw it, and words.

Plugins know why they refuse; `podium.scheduler.explain` asks them and puts together what they say.
"""
