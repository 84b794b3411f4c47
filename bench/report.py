"""A record of bench/run.py in words and tables: one block of Markdown for each part."""

import math
from collections.abc import Callable, Iterable, Sequence

from common import Row
from contestants import ALGORITHMS
from growth import FROM, LONG, slope
from markdown import at, block, mega, micro, number, power, table
from regrets import MEANS

NAMES = {
    "thrifty": "thrifty",
    "numpy": "NumPy",
    "smpybandits": "SMPyBandits",
    "mabwiser": "MABWiser",
    "river": "river",
    "pybandits": "pybandits",
    "contextualbandits": "contextualbandits",
    "obp": "obp",
    "vowpalwabbit": "Vowpal Wabbit",
}
MILLION = 10**6
ENOUGH = 20  # runs, for quantiles


def sizes(rows: Iterable[Row]) -> list[int]:
    return sorted({row["arms"] for row in rows})


def grouped(rows: Iterable[Row], *keys: str) -> dict[tuple[str, ...], list[Row]]:
    """Rows by the values of these keys, in the order in which they come."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found


def cost(row: Row) -> str:
    """Microseconds; ≈ if they were extrapolated."""
    if "ns" in row:
        return micro(row["ns"])
    return f"≈ {micro(row['extrapolated']['ns'])}" if "extrapolated" in row else "failed"


def failures(rows: Iterable[Row]) -> list[str]:
    """Each reason once."""
    found = [f"- {row['contestant']} failed: {row['failed']}." for row in rows if row.get("failed")]
    return list(dict.fromkeys(found))


def doubts(rows: Iterable[Row]) -> list[str]:
    found = {
        f"- {row['contestant']}, {row['algorithm']} †: {row['doubt']}." for row in rows if row.get("doubt")
    }
    return sorted(found)


def goal(text: str, met: bool) -> tuple[str, str]:
    return text, "met" if met else "**MISSED**"


def libraries(record: Row) -> str:
    """What was installed, how large it is and how long it takes to be imported."""
    ours = record["libraries"]["thrifty"] | record["cold"]["installed"]
    ours["versions"] = {
        name: record["versions"][name] for name in ("thrifty", "numba", "scipy", "numpy", "python")
    }
    cells = []
    for key, known in ({"thrifty": ours} | record["libraries"] | {"thrifty": ours}).items():
        versions = {name: text for name, text in known["versions"].items() if name != "python"}
        main, *others = [f"{name} {text}" for name, text in versions.items()] or [NAMES[key]]
        python = known["versions"].get("python")
        company = ", ".join([*others, f"Python {python}"] if python else others)
        # NumPy runs in the environment of the project, with all its tools.
        weight = mega(known["bytes"]) if key != "numpy" and "bytes" in known else ""
        seconds = f"{known['seconds']:.2f}" if "seconds" in known else ""
        cells.append([main, company, known["failure"] or "yes", seconds, weight])
    heading = ("library", "with", "everything answered", "import, s of processor time", "installed, MB")
    return block(record, table(heading, cells, left=3))


def simulated(record: Row) -> str:
    """(a) One simulated round."""
    rows = record["rounds"]
    columns = sizes(rows)
    base = {(row["algorithm"], row["arms"]): row["ns"] for row in rows if row["contestant"] == "thrifty"}
    doubtful = {(row["contestant"], row["algorithm"]) for row in record["regret"]["rows"] if row.get("doubt")}
    cells = []
    for algorithm in ALGORITHMS:
        for (name, kind), mine in grouped(rows, "contestant", "algorithm").items():
            if kind == algorithm:
                by = {row["arms"]: row for row in mine}
                mark = " †" if (name, kind) in doubtful else ""
                ratios = [
                    number(by[k]["ns"] / base[kind, k]) if (kind, k) in base and "ns" in by[k] else ""
                    for k in columns
                ]
                cells.append([f"{algorithm}: {name}{mark}", *(cost(by[k]) for k in columns), *ratios])
    heading = ("", *(f"{at(k)}, µs" for k in columns), *(f"times thrifty, {at(k)}" for k in columns))
    return block(record, table(heading, cells), notes=failures(rows) + doubts(record["regret"]["rows"]))


def decided(record: Row) -> str:
    """(b) One online decision and one reward."""
    rows = record["decisions"]
    columns = sizes(rows)
    by = grouped(rows, "contestant")
    first = {row["arms"]: row for row in next(iter(by.values()))}
    cells = []
    for (name,), mine in by.items():
        last = mine[-1].get("ns") or mine[-1].get("extrapolated", {}).get("ns")
        base = first[columns[-1]].get("ns")
        ratio = number(last / base) if last and base else ""
        steep = slope([(row["arms"], row["ns"]) for row in mine if "ns" in row and row["arms"] >= FROM])
        cells.append([name, *map(cost, mine), ratio, "" if steep is None else f"{steep:.2f}"])
    heading = ("", *(f"{at(k)}, µs" for k in columns), f"in times of TS-MA, {at(columns[-1])}", "slope")
    notes = [
        f"- Slope: of log cost against log K, from {at(FROM)} on.",
        "- ≈: extrapolated from the K before, since it would take too long or too much memory.",
        *failures(rows),
    ]
    return block(record, table(heading, cells), notes=notes)


def remembered(record: Row) -> str:
    """(c) The memory of a bandit."""
    largest = sizes(record["decisions"])[-1]
    cells = []
    for row in record["decisions"]:
        if row["arms"] == largest:
            found = row if "bytes" in row else row.get("extrapolated")
            about = "" if found is row else "≈ "
            values = [found["bytes"] / 1e6, found["bytes"] / largest, found["begin"]] if found else []
            figures = [about + number(value) for value in values] or ["failed", "", ""]
            cells.append([row["contestant"], *figures])
    heading = (at(largest), "peak, MB", "bytes an arm", "s to begin")
    used = ["- Measured in processes that were at work before: too little."] if largest < MILLION else []
    return block(record, table(heading, cells), notes=used)


def regretted(record: Row) -> str:
    """(d) The regret of everybody on one problem."""
    rows = sorted(record["regret"]["rows"], key=lambda row: ALGORITHMS.index(row["algorithm"]))
    cells = []
    for row in rows:
        mark = " †" if row.get("doubt") else ""
        name = f"{row['algorithm']}: {row['contestant']}{mark}"
        if "failed" in row:
            cells.append([name, "failed", *[""] * 6])
            continue
        error = "" if row["error"] is None else number(row["error"])
        spread = [*(f"{value:,.0f}" for value in row["quantiles"]), f"{row['stuck']:.0%}"]
        told = spread if row["runs"] >= ENOUGH else [""] * len(spread)
        cells.append([name, str(row["runs"]), f"{row['mean']:,.0f}", error, *told])
    heading = ("", "runs", "mean regret", "s.e.", "5 %", "50 %", "95 %", "stuck")
    horizon = record["regret"]["horizon"]
    words = (
        f"K = {len(MEANS)} Bernoulli arms, one with mean {MEANS[0]}, the others with {MEANS[1]}; "
        f"T = {horizon:,}. Pulls at random lose {(MEANS[0] - sum(MEANS) / len(MEANS)) * horizon:,.0f}."
    )
    few = [f"- From fewer than {ENOUGH} runs no quantiles are given; more would have taken too long."]
    return block(record, words, table(heading, cells), notes=few + doubts(rows) + failures(rows))


def limited(record: Row) -> str:
    """How far from the limit."""
    found = record["limit"]
    dense = [
        [at(r["arms"]), *(f"{r[key]:.2f}" for key in ("scan", "c", "ratio", "ratio_of_least"))]
        for r in found["dense"]
    ]
    tree = [
        [at(r["arms"]), str(r["levels"]), f"{r['least']:,.0f}", f"{r['ns']:,.0f}", f"{r['ratio']:.1f}"]
        for r in found["tournament"]
    ]
    awake = [
        [
            at(r["arms"]),
            f"{r['evaluations']:.1f}",
            f"{r['evaluations'] / math.log(r['arms']):.2f}",
            f"{r['draw']:.1f}",
            *(f"{value:,.0f}" for value in (r["line"], r["ns"], r["ratio"], r["ns"] / r["draw"])),
        ]
        for r in found["sleepers"]
    ]
    return block(
        record,
        "Dense Gaussian Thompson sampling, ns per posterior draw, whole rounds:",
        table(("", "scan", "C", "ratio, median", "ratio of the least times"), dense),
        "TS-MA, ns per round, beside one cache line per level of its tree (read on the way down, written "
        "on the way up, nothing computed):",
        table(("", "levels", "memory alone", "TS-MA", "ratio"), tree),
        "Exact Thompson sampling (Gaussian) on sleepers, ns per round, beside one draw of C and one cache "
        "line among K:",
        table(
            ("", "evaluations", "/ ln K", "one draw", "one line", "sleepers", "ratio to both", "to the draw"),
            awake,
        ),
    )


def against_arms(rows: Sequence[Row]) -> str:
    """Policies by K."""
    cells = []
    for (name,), mine in grouped(rows, "policy").items():
        steep = slope([(row["arms"], row["ns"]) for row in mine if row["arms"] >= FROM])
        cells.append([name, *(micro(row["ns"]) for row in mine), "" if steep is None else f"{steep:.2f}"])
    return table(("", *map(at, sizes(rows)), "slope"), cells)


def against_horizon(rows: Sequence[Row]) -> str:
    """Policies by T."""
    horizons = sorted({row["horizon"] for row in rows})
    cells = []
    for (name,), mine in grouped(rows, "policy").items():
        costs = {row["horizon"]: row["ns"] for row in mine}
        steep = slope(list(costs.items()))
        known = [micro(costs[t]) if t in costs else "" for t in horizons]
        cells.append([name, *known, "" if steep is None else f"{steep:.2f}"])
    return table(("", *(f"T = {power(t)}" for t in horizons), "slope"), cells)


def grown(record: Row) -> str:
    """Costs against K and T."""
    found = record["growth"]
    room = [
        [f"{at(r['arms'])}, T = {power(r['horizon'])}", mega(r["allocated"]), mega(r["resident"])]
        for r in found["memory"]
    ]
    steep = slope(
        [(r["arms"], r["allocated"]) for r in found["memory"] if r["grows"] == "arms" and r["arms"] >= FROM]
    )
    flat = slope([(r["horizon"], r["allocated"]) for r in found["memory"] if r["grows"] == "horizon"])
    told = (
        ""
        if steep is None
        else f" Its slope against K, from {at(FROM)} on, is {steep:.2f}, against T {flat:.2f}."
    )
    return block(
        record,
        f"A simulated round, µs; the slope is that of log cost against log K from {at(FROM)} on:",
        against_arms(found["rounds"]),
        "A decision and its reward, asked and told from Python, µs:",
        against_arms(found["decisions"]),
        f"The mean round of a whole run of T rounds at K = {LONG}, µs; the slope is that against log T, so "
        "that 0 means a cost in proportion to T:",
        against_horizon(found["horizons"]),
        f"The mean of all decisions up to T at K = {LONG}, each with its reward, from Python, µs:",
        against_horizon(found["decided"]),
        "Memory of a simulation of three policies at once (TS, TS-MA, KL-UCB++): the peak of what `simulate` "
        f"allocates, and of the whole process.{told}",
        table(("", "allocated, MB", "process, MB"), room),
    )


def started(record: Row) -> str:
    """Cold start."""
    found = record["cold"]
    begin = found["import"]
    cells = [
        [words, number(begin[key]["empty"]), "", number(begin[key]["warm"])]
        for key, words in (("package", "`import thrifty`"), ("used", "the same, and a first name used"))
    ]
    cells += [
        [f"first `simulate`, {r['engine']}", *(number(r[key]) for key in ("empty", "processor", "warm"))]
        for r in found["simulate"]
    ]
    size = found["installed"]
    if "bytes" in size:
        parts = ", ".join(f"{name} {mega(count)}" for name, count in size["largest"].items())
        room = f"Installed, with all that it needs: {mega(size['bytes'])} MB ({parts})."
    else:
        room = f"The size of an environment could not be measured: {size['failed']}."
    loaded = ", ".join(begin["loaded"]) or "none"
    said = [f"- A first run on {r['engine']} says: {r['says'] or 'nothing'}" for r in found["simulate"]]
    heading = ("seconds", "nothing compiled", "processor time of that", "later, the least")
    words = f"{room} Libraries for statistics, plots and tables that `import thrifty` loads: {loaded}."
    return block(record, table(heading, cells), words, notes=said)


def goals(record: Row) -> list[tuple[str, str]]:
    """What was hoped for, and whether it is so."""
    start = record["cold"]
    warm = max(row["warm"] for row in start["simulate"])
    package, used = (start["import"][key]["warm"] for key in ("package", "used"))
    told = [
        goal(f"`import thrifty` under 0.5 s: {package:.2f} s", package < 0.5),
        goal(f"and with the first name that is used: {used:.2f} s", used < 0.5),
        goal(f"a warm start of `simulate` under 1 s on every engine: {warm:.2f} s at most", warm < 1.0),
        goal(
            "the first run says what it is compiling",
            all("compiling" in row["says"] for row in start["simulate"]),
        ),
        goal(
            "libraries for plots and the command line are imported when used", not start["import"]["loaded"]
        ),
    ]
    ratio = max(row["ratio"] for row in record["limit"]["dense"])
    told.append(goal(f"dense Thompson sampling at most 1.5 times C: {ratio:.2f}", ratio <= 1.5))
    most = max(row["evaluations"] / math.log(row["arms"]) for row in record["limit"]["sleepers"])
    told.append(goal(f"sleepers evaluate at most 5 ln K a round: {most:.2f} ln K", most <= 5.0))
    ends = [row["allocated"] for row in record["growth"]["memory"] if row["grows"] == "horizon"]
    growth = ends[-1] / ends[0]
    told.append(goal(f"memory does not grow with the horizon: {growth:.2f} times", growth < 1.5))
    by = {(row["contestant"], row["arms"]): row["ns"] for row in record["decisions"] if "ns" in row}
    ours, dense = by.get(("thrifty, TS-MA", MILLION)), by.get(("NumPy, TS (Gaussian)", MILLION))
    if ours and dense:
        told.append(goal(f"TS-MA decides in under 10 µs at {at(MILLION)}: {micro(ours)} µs", ours < 1e4))
        text = f"and at least 2,000 times as fast as NumPy: {dense / ours:,.0f} times"
        told.append(goal(text, dense >= 2000.0 * ours))
    return told


def headline(record: Row) -> str:
    """A few lines of (b), for those in a hurry."""
    rows = grouped(record["decisions"], "contestant")
    columns = [k for k in sizes(record["decisions"]) if round(math.log10(k)) % 2 == 0]
    cells = []
    for (name,), mine in rows.items():
        by = {row["arms"]: row for row in mine}
        cells.append([name, *(cost(by[k]) for k in columns)])
    heading = ("One decision and one reward, from Python, µs", *map(at, columns))
    return block(record, table(heading, cells))


BLOCKS: dict[str, Callable[[Row], str]] = {
    "headline": headline,
    "libraries": libraries,
    "rounds": simulated,
    "decisions": decided,
    "memory": remembered,
    "regret": regretted,
    "limit": limited,
    "growth": grown,
    "cold": started,
}


def page(record: Row) -> str:
    """The whole report."""
    box, quick = record["machine"], "--quick" in record["command"]
    about = [
        f"Made by `{record['command']}` on {record['made'][:10]} in {record['minutes']:.0f} minutes, on "
        f"{box['cores']} cores ({box['processor']}) with {box['memory_gib']} GiB. How to read it is in "
        "`docs/performance.md`, what is measured, and how, in `bench/README.md`.",
    ]
    if quick:
        about.append("**A quick look**: few repeats, small sizes, few runs.")
    parts = [
        "# Measured against everyone, and against the limit",
        *about,
        "## Goals",
        block(record, table(("goal", ""), goals(record), left=2)),
        "## The libraries",
        libraries(record),
        "## One simulated round",
        simulated(record),
        "![A simulated round](results/rounds.png)",
        "## One online decision and one reward",
        decided(record),
        "![Decisions](results/decisions.png)",
        "## Memory of a bandit",
        remembered(record),
        "## Regret: is the answer right?",
        regretted(record),
        "![Regret](results/regret.png)",
        "## The limit",
        limited(record),
        "## Growth",
        grown(record),
        "![Growth](results/growth.png)",
        "## Cold start",
        started(record),
    ]
    return "\n\n".join(parts) + "\n"
