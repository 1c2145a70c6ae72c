"""Long-running processes, put together from the drivers: what commands start, and others can too.

- `embedded_cluster.embedded_cluster(options)`: an API server without sockets, with simulated nodes
  and controllers.
- `served_cluster.served_cluster(server, options, ...)`: the same behind a port, in a thread.
- `whole_cluster.whole_cluster(server, plan)`: that, and a scheduler at work in it in this thread;
  `run_cluster` keeps it until a signal.
- `startup.prepare_scheduler(options, gates, log)`: kube-scheduler's way from flags to a scheduler
  that could run, and `run_scheduler.run_scheduler(prepared, ...)`, which runs it.
- `run_simulated_nodes.run_simulated_nodes(settings, options)`: nodes and controllers for a server
  that others run.
- `run_controller.run_controller(settings, name)`: one controller alone, for such a server.
- `applying.apply_documents(client, documents, leave_out)`: manifests brought to a server.
- `event_loop.run(main)`: all of these are coroutines or contexts; this is the loop to run them in.

Contract: nothing here prints or knows of a terminal. What there is to say goes to callbacks,
observers of the engine, or the log that the caller brings. Problems that a user can mend are
raised as InputError, StartRefused or ConfigurationError.
"""
