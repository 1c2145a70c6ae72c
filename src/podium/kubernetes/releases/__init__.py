"""What a release of Kubernetes has, as data and as a value; which feature gates are on."""
