"""No server process outlives its test."""

from collections.abc import Iterator

import pytest

from tests.faults.serving import Served


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    while Served.living:
        Served.living[-1].kill()
