"""kube-scheduler's command line: from words to typed options, and from options to a configuration.

Flags are data (`definitions`, `legacy_definitions`), read by a parser with
pflag's rules (`parser`, `kinds`) into `options`. From there everything is what kube-scheduler does
with them between `main` and its first request: gates (`version_gates`), checks in its order
(`option_checks`, `tls_checks`, `delegation_checks`, `start_checks`), and the precedence of flags
and files (`precedence`). No I/O is done here; whoever starts a scheduler answers questions about
the machine (`host_environment`).
"""
