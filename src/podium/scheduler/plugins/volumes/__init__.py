"""What several volume plugins ask of claims, CSI drivers and in-tree volumes."""
