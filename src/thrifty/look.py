"""The look that all pages share: the report of a reproduction, and the pages of the service."""

# Okabe and Ito's palette for all kinds of colour vision, without its yellow, too pale for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#6E6E6E"

# Before the name, in the bar at the top: two densities.
LOGO = """<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">\
<path d="M2 20C6 20 7 5 10 5s3 15 6 15" /><path class="second" d="M8 20c4 0 5-9 8-9s3 9 6 9" /></svg>"""

_LINES = "".join(f" --c{i}: {colour};" for i, colour in enumerate(COLOURS[:6], 1))
CSS = (
    f":root {{{_LINES} }}"
    + """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --line: #d9dee4; --back: #f5f7f9;
  --paper: #fff; --card: #fff; --pale: #eef3f7; --accent: #0b5c8e; --good: #0a6b4b; --fair: #7a5200;
  --bad: #a33a00; --shadow: 0 1px 2px rgb(27 31 36 / 6%); }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ebee; --soft: #a0aab4; --line: #323941; --back: #14181d; --paper: #14181d;
    --card: #1b2026; --pale: #222a32; --accent: #7cc4f2; --good: #4fd1a5; --fair: #e9b44c; --bad: #ff9466;
    --shadow: none; --c1: #56B4E9; --c2: #F0803C; --c3: #2FC79B; --c4: #E39BC5; --c5: #E69F00;
    --c6: #8E9BF5; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; color: var(--ink); background: var(--back); font: 1rem/1.6 system-ui, -apple-system,
  "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; max-width: 50rem; }
h2 { font-size: 1.45rem; line-height: 1.25; }
h3 { font-size: 1.1rem; line-height: 1.35; margin: 0 0 .75rem; }
a { color: var(--accent); }
.bar { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.5rem;
  padding: .7rem 1.5rem; background: var(--card); border-bottom: 1px solid var(--line); }
.brand { display: inline-flex; align-items: center; gap: .5rem; font-weight: 700; font-size: 1.05rem;
  text-decoration: none; color: var(--ink); letter-spacing: -.01em; }
.brand svg { fill: none; stroke: var(--c1); stroke-width: 2.4; stroke-linecap: round; }
.brand .second { stroke: var(--c5); }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.5rem 3rem; }
.card, figure { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 1.25rem 1.5rem; box-shadow: var(--shadow); margin: 0; min-width: 0; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code { font: .9em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  background: var(--pale); padding: .1em .35em; border-radius: 3px; overflow-wrap: anywhere; }
.note { color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-size: .875rem; line-height: 1.45; }
caption { text-align: left; color: var(--soft); padding-bottom: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; }
tbody td { border-bottom: 1px solid var(--line); }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.badge { display: inline-block; border: 1.5px solid; border-radius: 1em; padding: 0 .6em; font-weight: 600;
  font-size: .92em; white-space: nowrap; }
.good { color: var(--good); } .fair { color: var(--fair); } .bad { color: var(--bad); }
.none { color: var(--soft); }

@media screen and (max-width: 46rem) {
  h1 { font-size: 1.6rem; }
  h2 { font-size: 1.3rem; }
  main { padding: 1.25rem 1rem 2rem; }
  .bar { padding-left: 1rem; padding-right: 1rem; }
  .card, figure { padding: 1rem; }
  .cards, .cards tbody, .cards tr, .cards td, .cards caption { display: block; }
  .cards thead { display: none; }
  .cards tr { border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem; margin: 0 0 1rem; }
  .cards td { border: 0; padding: .2rem 0; }
  .cards td::before { content: attr(data-label) ": "; color: var(--soft); }
  .cards td.number { text-align: left; white-space: normal; }
}
"""
)
