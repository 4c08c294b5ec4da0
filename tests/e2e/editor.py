"""The editor as a person uses it: gestures of mouse and keyboard, and what can be read off the screen."""

from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from playwright.sync_api import Locator, Page, WebSocket, expect

from dots import codec

CARDS = "article[data-testid^=node-]"
SLOW = 60_000  # ms; the first run compiles the kernels


@dataclass
class Editor:
    page: Page
    origin: str
    space: str
    sent: list[dict[str, Any]] = field(default_factory=list)  # frames the browser sent
    came: list[dict[str, Any]] = field(default_factory=list)  # frames it got

    @classmethod
    def open_new(cls, page: Page, origin: str, template: str = "empty") -> "Editor":
        answer = page.request.post(
            f"{origin}/api/spaces", data={"name": "Test", "template": template}, headers={"origin": origin}
        )
        assert answer.ok, answer.text()
        return cls.open(page, origin, answer.json()["id"])

    @classmethod
    def open(cls, page: Page, origin: str, space: str) -> "Editor":
        editor = cls(page, origin, space)
        page.on("websocket", editor._listen)
        page.goto(f"{origin}/spaces/{space}")
        expect(page.get_by_test_id("canvas")).to_be_visible()
        expect(page.get_by_test_id("palette-text.input")).to_be_visible()
        return editor

    def _listen(self, socket: WebSocket) -> None:
        def into(frames: list[dict[str, Any]], payload: str | bytes) -> None:
            assert isinstance(payload, bytes), "the wire is binary"
            frames.append(codec.decode(payload))  # type: ignore[arg-type]

        socket.on("framesent", lambda payload: into(self.sent, payload))
        socket.on("framereceived", lambda payload: into(self.came, payload))

    # what there is

    def nodes(self) -> list[str]:
        cards = self.page.locator(CARDS)
        return [str(card.get_attribute("data-testid"))[5:] for card in cards.all()]

    def card(self, node: str) -> Locator:
        return self.page.get_by_test_id(f"node-{node}")

    def port(self, node: str, side: str, name: str) -> Locator:
        return self.page.get_by_test_id(f"port-{node}-{side}-{name}")

    def text(self, node: str) -> Locator:
        """The live text on a card."""
        return self.card(node).locator(".stream:not(.quiet)")

    def status(self, node: str) -> str:
        return self.card(node).get_attribute("data-status") or ""

    def wait_for(self, node: str, status: str, timeout: float = SLOW) -> None:
        expect(self.card(node)).to_have_attribute("data-status", status, timeout=timeout)

    def first_text(self, node: str) -> str:
        """The first tokens of a running card; looked for at every frame, as an answer is soon done."""
        place = f"article[data-testid=node-{node}][data-status=running] .stream:not(.quiet)"
        script = "place => document.querySelector(place)?.textContent"
        return str(self.page.wait_for_function(script, arg=place, timeout=SLOW).json_value())

    def igb(self) -> bytes:
        """The graph as the server has it, once every edit is acknowledged."""
        expect(self.page.get_by_test_id("link")).to_have_attribute("data-pending", "0")
        answer = self.page.request.get(f"{self.origin}/api/spaces/{self.space}/graph.igb")
        assert answer.ok
        return answer.body()

    def engine(self) -> dict[str, Any]:
        answer = self.page.request.get(f"{self.origin}/api/engine")
        assert answer.ok
        return dict(answer.json())

    def comes_to_rest(self, place: Locator, middle_of_it: tuple[float, float]) -> None:
        """Frame by frame, until an element is where it should be."""
        frame = "() => new Promise((seen) => requestAnimationFrame(() => seen(true)))"
        end = monotonic() + 10
        while middle(place) != middle_of_it and monotonic() < end:
            self.page.evaluate(frame)
        assert middle(place) == middle_of_it

    # gestures

    def drag(self, source: tuple[float, float], target: tuple[float, float]) -> None:
        mouse = self.page.mouse
        mouse.move(*source)
        mouse.down()
        mouse.move(source[0] + 6, source[1] + 4)
        mouse.move(*target, steps=8)
        mouse.up()

    def add(self, component: str, x: float, y: float) -> str:
        """Drag a component from the palette so that it lands at a point of the window; returns the node's id."""
        before = set(self.nodes())
        self.drag(middle(self.page.get_by_test_id(f"palette-{component}")), (x, y))
        expect(self.page.locator(CARDS)).to_have_count(len(before) + 1)
        (node,) = set(self.nodes()) - before
        return node

    def connect(self, source: str, output: str, target: str, name: str) -> None:
        edges = self.page.locator(".react-flow__edge")
        count = edges.count()
        self.drag(middle(self.port(source, "out", output)), middle(self.port(target, "in", name)))
        expect(edges).to_have_count(count + 1)

    def select(self, node: str) -> None:
        self.card(node).locator("header").click()

    def type(self, node: str, param: str, text: str) -> None:
        """Write into a field of the inspector, replacing what is there, key by key."""
        self.select(node)
        box = self.page.get_by_test_id(f"field-{param}")
        box.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Escape")

    def run(self) -> None:
        self.page.keyboard.press("Control+Enter")

    def shot(self, path: Path) -> None:
        self.page.screenshot(path=path)


def middle(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box, f"{place} is not on the screen"
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
