"""The page, by its structure: well formed, self-contained, escaped, and every cell and link in its place."""

import base64
from html.parser import HTMLParser

import pytest

from thrifty.report.page import (
    CSS,
    Column,
    Html,
    Image,
    Section,
    badge,
    bullets,
    element,
    figure,
    page,
    paragraph,
    table,
)

VOID = {"meta", "img"}
COLUMNS = [Column("arm"), Column("pulls", number=True)]


class Reader(HTMLParser):
    """The elements of a page as (tag, attributes), its text, and a check that each one is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def example() -> str:
    plot = figure("Regret", [Image(b"<svg/>", "a line"), Image(b"<svg></svg>", "another")], "It grows.")
    numbers = table(COLUMNS, [["first", "12"], ["second", "3"]], "Pulls")
    return page(
        "A title",
        [paragraph("The opening.")],
        [Section("one", "First", [plot]), Section("two", "Second", [numbers, bullets(["a", "b"])])],
    )


def test_a_page_is_well_formed_and_says_what_a_browser_needs() -> None:
    text = example()
    reader = Reader(text)
    assert text.startswith("<!DOCTYPE html>")
    assert reader.all("html") == [{"lang": "en"}]
    assert {"charset": "utf-8"} in reader.all("meta")
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in reader.all("meta")
    assert len(reader.all("h1")) == 1
    assert "screen and (max-width" in CSS
    assert "@media print" in CSS


def test_nothing_is_loaded_from_elsewhere() -> None:
    reader = Reader(example())
    assert not {tag for tag, _ in reader.elements} & {"script", "link", "iframe", "object", "embed"}
    sources = [
        attributes[name]
        for _, attributes in reader.elements
        for name in ("src", "href")
        if name in attributes
    ]
    assert sources
    assert all(source.startswith(("data:image/svg+xml;base64,", "#")) for source in sources)
    assert "url(" not in CSS
    assert "@import" not in CSS


def test_the_contents_lead_to_the_sections() -> None:
    reader = Reader(example())
    targets = [attributes["href"] for attributes in reader.all("a")]
    assert targets == [f"#{attributes['id']}" for attributes in reader.all("section")] == ["#one", "#two"]


def test_text_is_escaped_and_html_is_not() -> None:
    assert paragraph("a < b & c") == "<p>a &lt; b &amp; c</p>"
    assert paragraph(Html("<b>x</b>")) == "<p><b>x</b></p>"
    assert element("a", "x", href='"><script>') == '<a href="&quot;&gt;&lt;script&gt;">x</a>'
    assert badge("yes & no", "good") == '<span class="badge good">yes &amp; no</span>'
    hostile = page("<script>", [paragraph("<script>")], [Section("s", "<script>", [bullets(["<script>"])])])
    assert not Reader(hostile).all("script")
    assert Reader(hostile).words.count("<script>") == 6  # title, h1, opening, contents, h2, item


def test_an_equation_and_a_percentage_stay_on_one_line() -> None:
    space = "\N{NO-BREAK SPACE}"
    assert paragraph("at α = 0, 5 % of all") == f"<p>at α{space}={space}0, 5{space}% of all</p>"


@pytest.mark.parametrize("cards", [True, False])
def test_a_table_has_its_headings_once_above_and_once_in_every_cell(cards: bool) -> None:
    text = table(COLUMNS, [["first", "12"], ["second", "3"]], "Pulls & more", cards=cards)
    reader = Reader(text)
    assert reader.words == ["Pulls & more", "arm", "pulls", "first", "12", "second", "3"]
    assert [attributes["data-label"] for attributes in reader.all("td")] == ["arm", "pulls"] * 2
    assert [attributes.get("class") for attributes in reader.all("td")] == [None, "number"] * 2
    assert all(attributes["scope"] == "col" for attributes in reader.all("th"))
    assert reader.all("table") == [{"class": "cards"} if cards else {"aria-label": "Pulls & more"}]
    assert ([attributes["class"] for attributes in reader.all("div")] == ["scroll"]) is not cards


def test_a_row_with_a_cell_too_many_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        table(COLUMNS, [["first", "12", "?"]], "Pulls")


@pytest.mark.parametrize(("count", "kind"), [(1, "single"), (2, "several")])
def test_images_are_inside_the_page(count: int, kind: str) -> None:
    drawings = [f"<svg>{i} é</svg>".encode() for i in range(count)]
    reader = Reader(figure("Title", [Image(drawing, 'a "b"') for drawing in drawings], "What to see."))
    images = reader.all("img")
    assert [base64.b64decode((image["src"] or "").partition(",")[2]) for image in images] == drawings
    assert all(image["alt"] == 'a "b"' for image in images)
    assert reader.all("figure") == [{"class": kind}]
    assert reader.words == ["Title", "What to see."]
