"""The lives of pods on simulated nodes: stages as data, and the kubelets that carry them out."""
