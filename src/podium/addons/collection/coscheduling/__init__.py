"""Coscheduling: pods of a group are placed together, or none of them is.

The queue keeps members of a group together, PreFilter turns them away while there are too few,
Permit holds each until enough have a node, and as soon as one finds none, PostFilter lets the
others go. What a group is, how it does, what it asks of the cluster's room and what is
remembered of its failures: `gangs.py`.
"""
