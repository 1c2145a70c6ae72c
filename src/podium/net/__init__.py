"""What everybody who speaks over the network shares, servers and clients alike."""
