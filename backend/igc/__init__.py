"""The graph language: graphs, patches, checks and the compiler. Pure values; input and output only in `cli` and `cases`."""
