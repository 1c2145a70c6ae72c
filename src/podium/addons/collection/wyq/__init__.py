"""Wyq-Scheduler: see every extension point at work, then use them for one real rule.

Four plugins as sea-wyq/Wyq-Scheduler has them, under the names that its configuration writes, and
with its words in the log: `defalut` tells of every point that it is called at, `filteringPod` and
`filteringNode` go by a label, `randScore` prefers nodes that hold the image a pod is to rebuild.
Its first generation was one plugin, `wyq`. `RandomScore` is what the name `randScore` promises.
"""
