"""What the commands of containers would do: read, never run."""
