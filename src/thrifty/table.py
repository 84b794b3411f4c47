"""Tables: plain text that lines up, and HTML for notebooks."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple


def aligned(heading: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """The heading, a rule, and the rows; the first ``left`` columns flush left, the others flush right.

    >>> print(aligned(("policy", "regret"), [("TS", "12.5"), ("KL-UCB++", "7.25")]))
    policy    regret
    ────────  ──────
    TS          12.5
    KL-UCB++    7.25
    """
    widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
    rule = ["─" * width for width in widths]
    justify = [str.ljust] * left + [str.rjust] * (len(widths) - left)
    return "\n".join(
        "  ".join(side(cell, width) for side, cell, width in zip(justify, row, widths, strict=True)).rstrip()
        for row in (heading, rule, *rows)
    )


def listed(names: Sequence[str], most: int = 4) -> str:
    """The first few names, and how many more there are.

    >>> listed(["a", "b"]), listed(list("abcdefg"))
    ('a, b', 'a, b, c, d and 3 more')
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


class Table(NamedTuple):
    """A table with a title and notes, as text or as HTML.

    >>> arms = Table(("arm", "pulls"), [("<b>", "12")], "Arms", ["one note"])
    >>> print(arms.text())
    Arms
    <BLANKLINE>
    arm  pulls
    ───  ─────
    <b>     12
    <BLANKLINE>
    one note
    >>> "&lt;b&gt;</td>" in arms.html()
    True
    """

    heading: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    notes: Sequence[str] = ()
    left: int = 1  # columns that are flush left

    def text(self) -> str:
        """Title, table and notes, with a line between them."""
        return "\n\n".join(
            filter(None, [self.title, aligned(self.heading, self.rows, self.left), *self.notes])
        )

    def html(self) -> str:
        """The same for a notebook. Every text is escaped."""
        body = "".join(self._row(row, "td") for row in self.rows)
        table = f"<table><thead>{self._row(self.heading, 'th')}</thead><tbody>{body}</tbody></table>"
        return f"<div>{_paragraphs([self.title])}{table}{_paragraphs(self.notes)}</div>"

    def _row(self, cells: Sequence[str], tag: str) -> str:
        sides = ["left"] * self.left + ["right"] * (len(cells) - self.left)
        return "<tr>{}</tr>".format(
            "".join(
                f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>'
                for side, cell in zip(sides, cells, strict=True)
            )
        )


def _paragraphs(texts: Iterable[str]) -> str:
    """Each text that is not empty, escaped. Its lines stay lines."""
    return "".join(f"<p>{escape(text)}</p>".replace("\n", "<br>") for text in texts if text)
