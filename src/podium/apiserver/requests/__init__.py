"""What can be asked of the server, one verb a module; synchronous, without sockets or clocks."""
