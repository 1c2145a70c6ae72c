"""The cards of nodes: what pods ask of them, which ones a pod gets, who holds which, and quotas."""
