"""What a run tells: the one seam from the engine outwards. Kinds and their data are listed in `docs/wire.md`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

RUN_KINDS: Final = ("started", "pool", "ended")
NODE_KINDS: Final = ("queued", "running", "prefill", "tokens", "log", "done", "skipped", "failed", "cancelled")
END_KINDS: Final = ("done", "skipped", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Event:
    run: str
    node: str | None
    kind: str
    data: Mapping[str, Any]
    time: float  # seconds since the run began
