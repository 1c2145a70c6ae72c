"""Rules over parts of objects: quantities, selectors, affinity, tolerations, requests, quotas."""
