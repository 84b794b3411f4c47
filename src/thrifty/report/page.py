"""One self-contained HTML page: text, tables and figures, nothing loaded from elsewhere.

It is made for three readers: a wide screen, a phone (figures stack up, the rows of a table become cards) and
paper (figures are not cut, the head of a table comes again). Every string is escaped unless it is ``Html``.
"""

import base64
import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


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
        return element("table", element("caption", caption), *content, class_="cards")
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
            element("style", Html(CSS)),
        ]
    )
    main = element("main", element("header", element("h1", title), *opening), contents, *body)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{main}</body></html>\n'


CSS = """
:root { --ink: #1b1f24; --soft: #59636e; --line: #d9dee4; --back: #f5f7f9; --accent: #0b5c8e; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; color: var(--ink); background: #fff; font: 1rem/1.6 system-ui, -apple-system, "Segoe UI",
  Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
p, ul, figcaption { max-width: 46rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; max-width: 50rem; }
h2 { font-size: 1.45rem; line-height: 1.25; margin: 3.5rem 0 1rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.1rem; line-height: 1.35; margin: 0 0 .75rem; }
a { color: var(--accent); }
ul { padding-left: 1.2rem; }
li { margin: .35rem 0; }
code { font: .9em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  background: var(--back); padding: .1em .35em; border-radius: 3px; overflow-wrap: anywhere; }
.note { color: var(--soft); }
.summary { background: var(--back); border-left: 4px solid var(--accent); padding: .75rem 1.25rem;
  margin: 1.5rem 0; max-width: 50rem; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0;
  margin: 1.5rem 0 0; max-width: none; }
nav li { margin: 0; }
figure { margin: 2.75rem 0; }
img { display: block; width: 100%; height: auto; }
.several .panels, .single { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem 2rem;
  align-items: start; }
.single h3 { grid-column: 1 / -1; margin: 0; }
.several figcaption { margin-top: 1rem; }
.scroll { margin: 0 0 2.5rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; font-size: .875rem;
  line-height: 1.45; }
caption { text-align: left; color: var(--soft); padding-bottom: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; }
thead th { border-bottom: 2px solid var(--ink); }
tbody td { border-bottom: 1px solid var(--line); }
.scroll th, .scroll td { padding: .25rem .75rem .25rem 0; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.badge { display: inline-block; border: 1.5px solid; border-radius: 1em; padding: 0 .6em; font-weight: 600;
  font-size: .92em; white-space: nowrap; }
.good { color: #0a6b4b; } .fair { color: #7a5200; } .bad { color: #a33a00; } .none { color: #59636e; }

@media screen and (max-width: 46rem) {
  main { padding: 1.25rem 1rem 3rem; }
  h1 { font-size: 1.6rem; }
  h2 { font-size: 1.3rem; margin-top: 2.5rem; }
  .several .panels, .single { grid-template-columns: 1fr; }
  img { width: calc(100% + 1.5rem); margin: 0 -.75rem; }
  .scroll { overflow-x: auto; }
  .scroll td, .scroll th { white-space: nowrap; }
  .scroll tr > :first-child { position: sticky; left: 0; background: #fff; }
  .cards, .cards tbody, .cards tr, .cards td, .cards caption { display: block; }
  .cards thead { display: none; }
  .cards tr { border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem; margin: 0 0 1rem; }
  .cards td { border: 0; padding: .2rem 0; }
  .cards td::before { content: attr(data-label) ": "; color: var(--soft); }
  .cards td.number { text-align: left; white-space: normal; }
}

@media print {
  @page { margin: 15mm; }
  body { font-size: 10pt; line-height: 1.4; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  h2, h3 { break-after: avoid; }
  h2 { margin-top: 1.5rem; }
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
