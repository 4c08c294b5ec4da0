"""The links of a page, or of every page of a context: pulled out and put back, or held while frames still go out."""

from playwright.sync_api import BrowserContext, Page, WebSocketRoute


class Cable:
    """`deaf`: what comes in is lost; `held`: it waits until `release`. Frames go out either way."""

    def __init__(self, place: BrowserContext | Page) -> None:
        self.out = self.deaf = self.held = False
        self.routes: list[WebSocketRoute] = []
        self.waiting: list[tuple[WebSocketRoute, str | bytes]] = []
        place.route_web_socket("**/ws/spaces/*", self.plug)

    def plug(self, route: WebSocketRoute) -> None:
        if self.out:
            route.close(code=1013)
            return

        def came(data: str | bytes) -> None:
            if self.held:
                self.waiting.append((route, data))
            elif not self.deaf:
                route.send(data)

        route.connect_to_server().on_message(came)
        self.routes.append(route)

    def pull(self) -> None:
        self.out = True
        for route in self.routes:
            route.close(code=1013)
        self.routes.clear()

    def release(self) -> None:
        self.held = False
        for route, data in self.waiting:
            route.send(data)
        self.waiting.clear()
