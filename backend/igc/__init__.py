"""The graph language: graphs, patches, checks, the compiler. Pure values; files only in `cli` and `cases`."""
