"""REST routes, one file a noun."""
