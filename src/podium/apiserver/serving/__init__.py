"""A server that listens: sockets, certificates, kubeconfig, start and stop."""
