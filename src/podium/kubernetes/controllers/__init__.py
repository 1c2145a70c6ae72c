"""Controllers: what they know, what they decide, and what they want written.

A controller is a file: a pure decision from objects and a moment to a `Plan`, and a small class
that gathers the objects from stores and says which changes concern which key. The simulated cluster
runs controllers through an API server; the simulator runs them in memory. Rules are those of
kube-controller-manager as far as pods notice them.

    workloads, pods, nodes, services      objects as controllers read them
    controller, stores, actions           what wakes a controller, what it knows, what it writes
    deployments, replica_sets, jobs, ...  controllers, one file each
    job_pods, daemon_pods, ...            what others need as well: templates, names, counts

Templates of pods and claims are passed on as they are written, as JSON: whatever field they have
reaches the pod. Contract: nothing here waits, keeps time or knows who is asking.
"""
