"""The option that writes golden files; it is known when a path under `tests/igc` is named, so never in a whole run."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write golden files instead of comparing them")
