"""What holds for every test."""

import os

# Two workers share the cores: kernels on one thread each, or they wait for each other. Results are equal bit by bit.
os.environ.setdefault("SPACES_THREADS", "1")
