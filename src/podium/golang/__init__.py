"""What imitates Go and its libraries: arithmetic, durations, quoting, JSON and YAML, decoding.

Messages, configuration files and manifests follow Go's rules down to the words of its errors,
because operators and their scripts match them. Of Kubernetes only apimachinery is known here: how
its types decode themselves is handed in.
"""
