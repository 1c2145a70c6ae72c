"""A week's questions about a cluster, as a script; docs/python-api.md explains it."""

from podium.what_if import AddNodes, Drain, Scale, compare_runs, load_cluster, load_nodes

shop = load_cluster("examples/what-if/shop.yaml")

# Where does everything go, and how full does it get?
run = shop.run()
print(f"{run.summary['placed']} placed, cpu {run.summary['cpu_share_after']:.0%}")

# How many more of the web pods fit, and what is in the way of more?
(web,) = shop.capacity("deployment/web").pods
print(f"{web['fits']} more web pods fit")

# What does draining worker-5 do?
for pod in shop.what_if(Drain("worker-5")):
    print(pod["what"], pod["name"], pod["before"], "->", pod["after"])

# Which single failures does the cluster not survive, today and with one node more?
new = AddNodes(load_nodes("examples/what-if/new-nodes.yaml"))
for name, changes in (("today", ()), ("with worker-6", (new, Scale("deploy/web", 8)))):
    lost = [node["name"] for node in shop.each_node(*changes) if not node["survived"]]
    print(f"{name}: {lost or 'every node may fail'}")

# Which pods go elsewhere if nodes are packed instead of spread?
packed = shop.with_config("examples/what-if/packing.yaml").run()
moved = compare_runs(run, packed)
print(f"{len(moved)} of {len(run.pods)} pods elsewhere when packed")

# Does packing use fewer nodes, in whatever order pods arrive?
compared = shop.compare("default", "examples/what-if/packing.yaml", seeds=6)
_, used = (each for each in compared.metrics if each["metric"] == "nodes_used")
print(f"{used['difference']:+.1f} nodes used when packed, p = {used['p_value']:.2f}")
