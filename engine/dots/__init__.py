"""The runtime: runs programs under hard quotas. It never sees a graph, a client's socket or a user."""
