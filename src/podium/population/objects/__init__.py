"""Objects as the simulated cluster reads them: the fields that its decisions need, typed.

What is only passed on stays as it is: templates of pods and claims are JSON from one object into
another, and nobody here looks into them.
"""
