"""One self-contained HTML page: text, tables and figures, nothing loaded from elsewhere.

It is made for three readers: a wide screen, a phone (figures stack up, the rows of a table become cards) and
paper (figures are not cut, the head of a table comes again). Screens may be light or dark; figures are drawn
on white, so in the dark each lies on a light sheet. Every string is escaped unless it is ``Html``.
"""

import base64
import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from thrifty import look


class Html(str):
    """Text that is HTML already."""


@dataclass(frozen=True)
class Column:
    """A column of a table. The heading also stands before each of its cells on a phone."""

    heading: str
    number: bool = False  # set flush right, and never broken


@dataclass(frozen=True)
class Image:
    """An SVG, and what it shows for those who cannot see it."""

    svg: bytes
    alternative: str


@dataclass(frozen=True)
class Section:
    """A heading, listed at the top of the page, and what comes under it."""

    anchor: str
    title: str
    parts: Sequence[Html]


def element(tag: str, *children: str, **attributes: str) -> Html:
    """An HTML element; a trailing underscore keeps an attribute's name out of Python's way.

    >>> print(element("p", "a < b", class_="note"))
    <p class="note">a &lt; b</p>
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html.escape(value)}"' for name, value in attributes.items()
    )
    return Html(f"<{tag}{given}>{join(children)}</{tag}>")


def join(parts: Iterable[str]) -> Html:
    """The parts one after the other, escaped where they are plain text.

    >>> print(join(["1 < 2, ", element("b", "yes")]))
    1 &lt; 2, <b>yes</b>
    """
    return Html("".join(part if isinstance(part, Html) else _text(part) for part in parts))


def _text(plain: str) -> str:
    """Escaped, and set so that no line ends inside "α = 0" or "5 %"."""
    space = "\N{NO-BREAK SPACE}"
    return html.escape(plain).replace(" = ", f"{space}={space}").replace(" %", f"{space}%")


def paragraph(*text: str) -> Html:
    """A paragraph."""
    return element("p", *text)


def badge(text: str, kind: str) -> Html:
    """A word that stands out; the kind ("good", "fair", "bad" or "none") gives its colour."""
    return element("span", text, class_=f"badge {kind}")


def bullets(items: Iterable[str]) -> Html:
    """A list with bullets."""
    return element("ul", *(element("li", item) for item in items))


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], caption: str, *, cards: bool = True
) -> Html:
    """A table. On a narrow screen each row becomes a card, or, without ``cards``, the table scrolls sideways.

    >>> cells = table([Column("arm"), Column("pulls", number=True)], [["first", "12"]], "Pulls")
    >>> '<td data-label="pulls" class="number">12</td>' in cells
    True
    """
    kinds = [{"class_": "number"} if column.number else {} for column in columns]
    head = (
        element("th", column.heading, scope="col", **kind)
        for column, kind in zip(columns, kinds, strict=True)
    )
    body = (
        element(
            "tr",
            *(
                element("td", cell, data_label=column.heading, **kind)
                for cell, column, kind in zip(row, columns, kinds, strict=True)
            ),
        )
        for row in rows
    )
    content = (element("thead", element("tr", *head)), element("tbody", *body))
    if cards:
        rows_of_cards = element("table", element("caption", caption), *content, class_="cards")
        return element("div", rows_of_cards, class_="card")
    # The caption stands before the table, so that it does not scroll.
    scroll = element("div", element("table", *content, aria_label=caption), class_="scroll", tabindex="0")
    return join([element("p", caption, class_="note"), scroll])


def figure(title: str, images: Sequence[Image], caption: str) -> Html:
    """A title, one image with the caption beside it, or several side by side with the caption under them."""
    shown = (
        Html(
            f'<img src="data:image/svg+xml;base64,{base64.b64encode(image.svg).decode()}" '
            f'alt="{html.escape(image.alternative)}">'
        )
        for image in images
    )
    return element(
        "figure",
        element("h3", title),
        element("div", *shown, class_="panels"),
        element("figcaption", caption),
        class_="several" if len(images) > 1 else "single",
    )


def page(title: str, opening: Sequence[Html], sections: Sequence[Section]) -> str:
    """The whole document: the opening, the list of sections, the sections."""
    contents = element(
        "nav",
        element("ul", *(element("li", element("a", s.title, href=f"#{s.anchor}")) for s in sections)),
        aria_label="Contents",
    )
    body = (element("section", element("h2", s.title), *s.parts, id=s.anchor) for s in sections)
    head = join(
        [
            Html('<meta charset="utf-8">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            element("title", title),
            element("style", Html(look.CSS + CSS)),
        ]
    )
    bar = element("header", element("span", Html(look.LOGO), "thrifty", class_="brand"), class_="bar")
    main = element("main", element("h1", title), *opening, contents, *body)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{bar}{main}</body></html>\n'


CSS = """
p, ul, figcaption { max-width: 46rem; }
h2 { margin: 3rem 0 1.25rem; }
ul { padding-left: 1.2rem; }
li { margin: .35rem 0; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0;
  margin: 1.5rem 0 0; max-width: none; }
nav li { margin: 0; }
.summary { border-left: 4px solid var(--accent); padding: .1rem 1.1rem; margin: 1.5rem 0; max-width: 50rem; }
figure { margin: 0 0 1.25rem; }
img { display: block; width: 100%; height: auto; background: #fff; }
.several .panels, .single { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem 2rem;
  align-items: start; }
.single h3 { grid-column: 1 / -1; margin: 0; }
.several figcaption { margin-top: 1rem; }
.scroll { margin: 0 0 2.5rem; }
table { margin: .5rem 0 1.5rem; }
.card table { margin: 0; }
thead th { color: var(--soft); font-weight: 600; border-bottom: 1px solid var(--line);
  vertical-align: bottom; }
.scroll th, .scroll td { padding: .25rem .75rem .25rem 0; }

@media screen and (prefers-color-scheme: dark) {
  img { padding: .75rem; border-radius: 8px; }
}

@media screen and (max-width: 46rem) {
  h2 { margin-top: 2.5rem; }
  .several .panels, .single { grid-template-columns: minmax(0, 1fr); }
  img { width: calc(100% + 1.5rem); margin: 0 -.75rem; padding: .25rem; }
  .scroll { overflow-x: auto; }
  .scroll td, .scroll th { white-space: nowrap; }
  .scroll tr > :first-child { position: sticky; left: 0; background: var(--back); }
}

@media print {
  @page { margin: 15mm; }
  body { font-size: 10pt; line-height: 1.4; background: none; }
  main { max-width: none; padding: 0; }
  nav, .bar { display: none; }
  h2, h3 { break-after: avoid; }
  h2 { margin-top: 1.5rem; }
  figure, .card { border: 0; box-shadow: none; padding: 0; }
  figure { margin: 1.25rem 0; }
  .single, .several img { break-inside: avoid; }
  .note { break-after: avoid; }
  tr { break-inside: avoid; }
  thead { display: table-header-group; }
  table { font-size: 7.5pt; }
  .several .panels, .single { gap: .5rem 1rem; }
  .cards td, .cards th { padding: .2rem .5rem .2rem 0; }
  .summary, .badge { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""
