"""Many runs that do not depend on each other: planned, shared out, kept and given back in order.

The room knows neither schedulers nor clusters. Whoever has runs to make describes them as values (a
`Sweep`) and says where they are made (an executor) and where finished ones are kept. What comes out
is the same on one core, on all cores and on other machines.
"""
