"""Cleans text: removes HTML tags, control characters and surplus white space, and composes Unicode (NFC)."""

import re
import unicodedata
from html import unescape

from pydantic import Field

from dots.spec import Effect, Example, Label, Params, Port, PortType, Spec, Values

BLOCKS = frozenset(
    (
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "td",
        "th",
        "tr",
        "ul",
    )
)
MARK = re.compile(r"""<!--|-->|</?[a-zA-Z][^\s/<>"'=]{0,63}|<[!?]|=\s{0,8}["']|[>"']""")
HIDDEN = frozenset(("script", "style", "template", "noscript"))


class TextClean(Params):
    html: bool = Field(True, title="Remove HTML", json_schema_extra={"zh": "去除 HTML"})
    control: bool = Field(True, title="Remove control characters", json_schema_extra={"zh": "去除控制字符"})
    normal: bool = Field(True, title="Compose Unicode (NFC)", json_schema_extra={"zh": "Unicode 规范化（NFC）"})
    space: bool = Field(True, title="Tidy white space", json_schema_extra={"zh": "整理空白"})


SPEC = Spec(
    name="text.clean",
    version=1,
    effect=Effect.PURE,
    label=Label("Clean text", "清洗文本"),
    group="text",
    glyph="clean",
    params=TextClean,
    inputs=(Port("text", PortType.TEXT, Label("Text", "文本")),),
    outputs=(Port("text", PortType.TEXT, Label("Text", "文本")),),
    example=Example(
        {}, {"text": "<p>Good&nbsp;  <b>morning</b></p>\n\n\n<p>Ada\x07</p>"}, {"text": "Good morning\n\nAda"}
    ),
    help_zh="清洗文本：去除 HTML 标签、控制字符和多余空白，并把 Unicode 组合为规范形式（NFC）。",
)


def without_html(text: str) -> str:
    """The text a reader would see, in one pass: a block element ends its line, an unclosed tag is text.

    The standard library's parser starts again at every unclosed mark, which is quadratic on hostile input.
    """
    parts: list[str] = []
    shown = opened = 0  # where the text not yet taken begins; where the open tag or comment does
    inside = ""  # "": text; "<": a tag; "-": a comment; else the quote around an attribute's value
    name = hidden = ""
    for mark in MARK.finditer(text):
        token = mark[0]
        if not inside and token[0] == "<":
            name = token[1:].lower()
            if hidden and name != f"/{hidden}":
                continue
            if not hidden:
                parts.append(text[shown : mark.start()])
            opened, inside = mark.start(), "-" if token == "<!--" else "<"
        elif inside == "-" and token == "-->":
            shown, inside = mark.end(), ""
        elif inside == "<" and token[-1] == ">":
            shown, inside, hidden = mark.end(), "", name if name in HIDDEN else ""
            parts.append("\n" if name.lstrip("/") in BLOCKS else "")
        elif inside == "<" and token[0] == "=":
            inside = token[-1]
        elif inside and token[-1] == inside:
            inside = "<"
    if inside or not hidden:
        parts.append(text[opened if inside else shown :])
    return unescape("".join(parts))


def without_control(text: str) -> str:
    """Drops category Cc except tab and line ends, and format characters that hide text (bidi, zero width)."""
    hidden = {"\u200b", "\ufeff", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
    return "".join(c for c in text if c in "\t\n\r" or (unicodedata.category(c) != "Cc" and c not in hidden))


def tidy_space(text: str) -> str:
    """One space between words, at most one empty line, none at the ends."""
    lines = [re.sub(r"[^\S\n]+", " ", line).strip() for line in re.split(r"\r\n|\r|\n", text)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def run(p: TextClean, inputs: Values) -> Values:
    text: str = inputs["text"]
    if p.html:
        text = without_html(text)
    if p.control:
        text = without_control(text)
    if p.normal:
        text = unicodedata.normalize("NFC", text)
    if p.space:
        text = tidy_space(text)
    return {"text": text}
