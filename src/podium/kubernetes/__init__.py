"""What is true of Kubernetes whoever asks: kinds, rules, admission, controllers, CEL, releases.

The API server, the simulator, the scheduler and traces look here, so that each rule exists once.
Nothing here does I/O (but for the data file of a release), owns a clock or knows a scheduler.
Importing this package loads no kind.
"""
