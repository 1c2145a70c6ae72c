"""What would have to change so that a pod fits: changes that the engine has proven to suffice."""
