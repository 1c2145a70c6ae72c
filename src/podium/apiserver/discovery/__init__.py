"""What is served, told to clients: groups, versions, resources, and the server's own version."""
