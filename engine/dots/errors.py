"""Errors of the runtime. `Failure` is a value that a run reports; the exceptions are for callers.

DotsError
├── Refused       a request that cannot be served as asked; carries a Failure
└── HostLost      the engine host is gone; its runs end as failed
"""

from dataclasses import dataclass
from enum import IntEnum


class Code(IntEnum):
    """CUDA's numbers, with the meaning shown to people."""

    INVALID_VALUE = 1  # illegal tensor address, handle or argument
    OUT_OF_MEMORY = 2  # cannot fit the limit or the pool
    NOT_FOUND = 500  # no such symbol, model or buffer
    ILLEGAL_ADDRESS = 700  # access outside the region
    LAUNCH_OUT_OF_RESOURCES = 701  # step budget used up
    LAUNCH_TIMEOUT = 702  # deadline exceeded
    NOT_PERMITTED = 800  # tier, queue id or scope forbids it


@dataclass(frozen=True, slots=True)
class Failure:
    code: Code
    where: str
    expected: str
    got: str
    retry: bool = False  # the same request may succeed later

    def __str__(self) -> str:
        return f"{self.code.name} ({int(self.code)}) at {self.where}: expected {self.expected}, got {self.got}"


EXIT: dict[Code, int] = {
    Code.INVALID_VALUE: 65,
    Code.OUT_OF_MEMORY: 65,
    Code.NOT_FOUND: 66,
    Code.ILLEGAL_ADDRESS: 65,
    Code.LAUNCH_OUT_OF_RESOURCES: 65,
    Code.LAUNCH_TIMEOUT: 75,
    Code.NOT_PERMITTED: 77,
}


def exit_code(failure: Failure) -> int:
    """Exit status of the command line for a failure; 75 when a retry may help."""
    return 75 if failure.retry else EXIT[failure.code]


class DotsError(Exception):
    """Base of this package's exceptions."""


class Refused(DotsError):
    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


class HostLost(DotsError):
    """The engine host ended; the message says how."""
