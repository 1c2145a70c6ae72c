"""What controllers would make of objects: rules without a cluster.

Whoever plays a controller needs the same rules: the simulator, which expands files once, and the
simulated cluster, which keeps at it through an API server. Both ask here how many pods, of which
template, with which labels, claims and tolerations, and which of them go first.

    workloads, pods, nodes        objects as controllers read them
    pod_templates, stateful_sets, daemons, jobs, claims, provisioning     what is made
    availability, rollout, scale_down, taint_eviction                     how many, and when

Templates of pods and claims are passed on as they are written, as JSON: whatever field they have
reaches the pod. Contract: nothing here waits, keeps state or knows who is asking.
"""
