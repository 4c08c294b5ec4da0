"""The parts of one server, made by `app.py` and handed to routes; the only thing an app's state holds."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from dots.components import Catalogue
from spaces.auth import Auth
from spaces.engine import Engine
from spaces.open_spaces import OpenSpaces
from spaces.runs import Runs
from spaces.settings import Settings
from spaces.store import Store


@dataclass(frozen=True, slots=True)
class Parts:
    settings: Settings
    store: Store
    auth: Auth
    engine: Engine
    runs: Runs
    spaces: OpenSpaces
    catalogue: Catalogue


def parts(request: Request) -> Parts:
    found: Parts = request.app.state.parts
    return found


Server = Annotated[Parts, Depends(parts)]
"""A route's parameter: the parts of the server that it is asked on."""
