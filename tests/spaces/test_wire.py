"""Frames: strict reading, exact writing, and the generated types that must not drift."""

from dataclasses import fields
from pathlib import Path

import pytest

from dots import codec
from spaces import wire
from spaces.errors import Refused
from tools import generate

ROOT = Path(__file__).resolve().parents[2]
C, R = "c000000001", "r000000001"

FRAMES: list[tuple[dict[str, object], wire.ClientFrame]] = [
    ({"type": "hello", "protocol": 1, "client": C, "resume": {R: 3}}, wire.Hello(1, C, {R: 3})),
    ({"type": "hello", "protocol": 1, "client": C}, wire.Hello(1, C)),
    ({"type": "push", "id": [C, 1], "base_seq": 0, "ops": [["x"]]}, wire.Push((C, 1), 0, [["x"]])),
    ({"type": "save", "id": [C, 2], "seq": 1, "base_version": None, "message": ""}, wire.Save((C, 2), 1, None, "")),
    ({"type": "run", "run": R, "igb": b"x"}, wire.Run(R, b"x")),
    (
        {"type": "run", "run": R, "version": 1, "inputs": {"a": [1]}, "targets": []},
        wire.Run(R, None, None, 1, {"a": [1]}, []),
    ),
    ({"type": "cancel", "run": R}, wire.Cancel(R)),
    ({"type": "resume", "run": R, "after_seq": 7}, wire.Resume(R, 7)),
    ({"type": "presence", "data": {}}, wire.Presence({})),
    ({"type": "part", "transfer": R, "offset": 0, "total": 1, "bytes": b"x"}, wire.Part(R, 0, 1, b"x")),
]


@pytest.mark.parametrize(("value", "frame"), FRAMES, ids=lambda v: v["type"] if isinstance(v, dict) else "")
def test_a_frame_is_read_as_its_type(value: dict[str, object], frame: wire.ClientFrame) -> None:
    assert wire.decode(codec.encode(value)) == frame


@pytest.mark.parametrize(("value", "frame"), FRAMES, ids=lambda v: v["type"] if isinstance(v, dict) else "")
def test_a_frame_with_one_field_of_another_kind_is_refused_by_that_field(
    value: dict[str, object], frame: wire.ClientFrame
) -> None:
    for field in fields(frame):
        if field.name not in value:
            continue
        with pytest.raises(Refused) as caught:
            wire.decode(codec.encode(value | {field.name: 1.5}))
        assert caught.value.refusal.where.startswith(f"{frame.type}.{field.name}")
        assert caught.value.refusal.got == "1.5"


def test_a_bool_is_no_int_and_an_unknown_field_no_field() -> None:
    for value in ({"type": "resume", "run": R, "after_seq": True}, {"type": "cancel", "run": R, "force": 1}):
        with pytest.raises(Refused):
            wire.decode(codec.encode(value))


def test_a_bad_frame_still_names_what_its_answer_is_about() -> None:
    with pytest.raises(wire.BadFrame) as caught:
        wire.decode(codec.encode({"type": "push", "id": [C, 4], "base_seq": -1, "ops": [[]]}))
    assert caught.value.frame_id == (C, 4)


def test_a_server_frame_is_written_with_all_its_fields() -> None:
    frame = wire.Patched(3, [["edge-", ["a", "b", "c", "d", 0]]], C, [(["set", "a", "b"], "")])
    assert codec.decode(wire.encode(frame)) == {
        "type": "patched",
        "seq": 3,
        "ops": [["edge-", ["a", "b", "c", "d", 0]]],
        "author": C,
        "overtaken": [[["set", "a", "b"], ""]],
    }


def test_every_frame_and_field_is_on_the_wire_page() -> None:
    page = (ROOT / "docs/wire.md").read_text("utf-8")
    for kind in (*wire.CLIENT_FRAMES, *wire.SERVER_FRAMES):
        assert f"| `{kind.type}` |" in page
        assert [f.name for f in fields(kind) if f"`{f.name}" not in page and f" {f.name}" not in page] == []


def test_what_is_generated_is_up_to_date() -> None:
    assert generate.main(["--check"]) == 0


def test_drift_is_found_by_name_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    target = tmp_path / "frontend/src/wire/frames.ts"
    assert generate.main(["--check"]) == 1
    assert ("frontend/src/wire/frames.ts" in capsys.readouterr().out, target.exists()) == (True, False)
    assert (generate.main([]), generate.main(["--check"])) == (0, 0)
    target.write_text(target.read_text("utf-8") + "// edited by hand\n", "utf-8")
    assert generate.main(["--check"]) == 1


def test_the_generated_types_say_what_the_frames_are() -> None:
    text = generate.frames()
    assert 'export interface PatchedFrame {\n  type: "patched";\n  seq: number;\n  ops: readonly Op[];\n' in text
    assert "  id: readonly [Id, number] | Id | null;\n" in text
    assert text == generate.frames()
