"""The frame plugins hang in: extension points, statuses, verdicts, cycle state, profiles.

Plugin authors import what they need from `podium.plugin`.
"""
