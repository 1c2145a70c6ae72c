"""What imitates Go and its libraries: arithmetic, durations, quoting, JSON and YAML.

Messages, configuration files and manifests follow Go's rules down to the words of its errors,
because operators and their scripts match them. Nothing here knows Kubernetes.
"""
