"""The parts of one server, made by `app.py` and handed to routes; the only thing an app's state holds."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from fastapi import Request

from dots.components import Catalogue
from spaces.auth import Auth
from spaces.engine import Engine
from spaces.opened import OpenSpaces
from spaces.runs import Runs
from spaces.settings import Settings
from spaces.store import Store

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Parts:
    settings: Settings
    store: Store
    auth: Auth
    engine: Engine
    runs: Runs
    spaces: OpenSpaces
    catalogue: Catalogue

    async def in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work)


def parts(request: Request) -> Parts:
    found: Parts = request.app.state.parts
    return found
