"""An API server in one process, which kubectl and client libraries take for a real one."""
