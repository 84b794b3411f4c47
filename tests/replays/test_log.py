"""Logs: what is used, in which order, and what is left out, by line and reason."""

import datetime
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import thrifty
from thrifty.errors import ThriftyError
from thrifty.replays import log as logs

HEADING = "arm,reward,propensity\n"


def csv(folder: Path, text: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows(log: logs.Log) -> list[tuple[Any, ...]]:
    """What can be used: id, reward, propensity."""
    values = zip(log.arm.tolist(), log.reward.tolist(), log.propensity.tolist(), strict=True)
    return [(log.arms[i], x, p) for i, x, p in values]


def columns(*table: tuple[Any, ...]) -> dict[str, list[Any]]:
    return dict(
        zip(("arm", "reward", "propensity", "time"), map(list, zip(*table, strict=True)), strict=False)
    )


GOOD = [("b", 1.0, 0.5), ("a", 0.25, 1.0), ("b", 0.0, 1e-9)]


def test_csv_parquet_and_tables_are_the_same_log(tmp_path: Path) -> None:
    text = HEADING + "b,1,0.5\na,0.25,1\nb,0,1e-9\n"
    frame = polars.DataFrame(columns(*GOOD))
    frame.write_parquet(tmp_path / "log.parquet")
    sources = [
        csv(tmp_path, text),
        str(csv(tmp_path, text)),
        csv(tmp_path, text.replace("\n", "\r\n"), "LOG.CSV"),
        csv(tmp_path, "\ufeff" + text),
        csv(tmp_path, text.replace(",", " , ").replace("b ,", "b,").replace("a ,", "a,")),
        csv(tmp_path, 'reward,other,arm,propensity\n1,x,b,0.5\n0.25,"y,\n",a,1\n0,,b,1e-9\n'),
        tmp_path / "log.parquet",
        frame,
        columns(*GOOD),
        {name: np.array(column) for name, column in columns(*GOOD).items()},
        {name: tuple(column) for name, column in columns(*GOOD).items()},
    ]
    for source in sources:
        log = logs.read(source)
        assert rows(log) == GOOD
        assert log.arms == ("b", "a")
        assert (len(log), log.bad, log.elsewhere, log.report()) == (3, (), 0, "")


@pytest.mark.parametrize(
    "ids",
    [
        [7, 3, 7],
        [2.5, "2.5", 2.5],
        ["1", 1, "1"],
        [(1, 2), (1, 3), (1, 2)],
        [datetime.date(2020, 1, 1), "x", datetime.date(2020, 1, 1)],
        [True, False, True],
        [frozenset({1}), b"x", frozenset({1})],
    ],
    ids=str,
)
def test_ids_of_any_kind_stay_what_they_are(ids: list[Any]) -> None:
    log = logs.read({"arm": ids, "reward": [0, 1, 0], "propensity": [0.5] * 3})
    assert log.arms == tuple(ids[:2])
    assert [type(name) for name in log.arms] == [type(name) for name in ids[:2]]
    assert log.arm.tolist() == [0, 1, 0]


def test_numbers_in_parquet_are_numbers_and_texts_in_csv(tmp_path: Path) -> None:
    polars.DataFrame(columns((7, 1, 0.5), (8, 0, 0.5))).write_parquet(tmp_path / "log.parquet")
    assert logs.read(tmp_path / "log.parquet").arms == (7, 8)
    assert logs.read(csv(tmp_path, HEADING + "7,1,0.5\n8,0,0.5\n")).arms == ("7", "8")


# Bad rows --------------------------------------------------------------------------------------------------

REWARD, PROPENSITY = "reward is not a number", "propensity is not in (0, 1]"

BAD = [
    (("", 1, 0.5), "no arm"),
    (("  ", 1, 0.5), "no arm"),
    (("a", "", 0.5), REWARD),
    (("a", "nan", 0.5), REWARD),
    (("a", "inf", 0.5), REWARD),
    (("a", "yes", 0.5), REWARD),
    (("a", 1, 0), PROPENSITY),
    (("a", 1, -0.5), PROPENSITY),
    (("a", 1, 1.0000001), PROPENSITY),
    (("a", 1, "nan"), PROPENSITY),
    (("a", 1, ""), PROPENSITY),
    (("a", 1, "p"), PROPENSITY),
    (("a", 1, "1e-300"), "propensity is below 1e-100"),
]


@pytest.mark.parametrize(("row", "reason"), BAD, ids=str)
def test_a_bad_row_in_csv_is_reported_by_its_line(tmp_path: Path, row: tuple[Any, ...], reason: str) -> None:
    text = HEADING + "a,1,0.5\n" + ",".join(map(str, row)) + "\nb,0,0.5\n"
    log = logs.read(csv(tmp_path, text))
    assert log.bad == ((3, reason),)
    assert rows(log) == [("a", 1.0, 0.5), ("b", 0.0, 0.5)]
    assert log.line.tolist() == [2, 4]
    assert log.report() == f"1 row left out: {reason} (line 3)"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ((None, 1, 0.5), "no arm"),
        ((float("nan"), 1, 0.5), "no arm"),
        ((np.array([1, 2]), 1, 0.5), "no arm"),
        ((["a"], 1, 0.5), "arm is not an id"),
        (("a", None, 0.5), REWARD),
        (("a", 10**400, 0.5), REWARD),
        (("a", [1], 0.5), REWARD),
        (("a", 1, None), PROPENSITY),
        (("a", 1, 0.0), PROPENSITY),
    ],
    ids=str,
)
def test_a_bad_row_in_a_table_is_reported_by_its_number(row: tuple[Any, ...], reason: str) -> None:
    log = logs.read(columns(("a", 1, 0.5), row, ("b", 0, 0.5)))
    assert log.bad == ((2, reason),)
    assert rows(log) == [("a", 1.0, 0.5), ("b", 0.0, 0.5)]


@pytest.mark.parametrize("words", [("True", "False"), ("true", " FALSE "), (True, np.False_)], ids=str)
def test_rewards_that_are_true_or_false(tmp_path: Path, words: tuple[Any, Any]) -> None:
    """They count as 1 and 0, in a file and in a table. Propensities in a file do not."""
    expected = [("a", 1.0, 0.5), ("b", 0.0, 0.5)]
    text = HEADING + f"a,{words[0]},0.5\nb,{words[1]},0.5\na,1,True\n"
    log = logs.read(csv(tmp_path, text))
    assert rows(log) == expected
    assert log.bad == ((4, PROPENSITY),)
    assert rows(logs.read(columns(("a", words[0], 0.5), ("b", words[1], 0.5)))) == expected


def test_texts_in_parquet_that_write_numbers(tmp_path: Path) -> None:
    """As in a CSV file: a number that is known is meant, unless the text itself is."""
    polars.DataFrame(columns(("7", 1, 0.5), ("8", 0, 0.5))).write_parquet(tmp_path / "log.parquet")
    for arms in ((7, 8), ("7", "8"), ("7", 8)):
        assert logs.read(tmp_path / "log.parquet", arms).arms == arms


def test_nulls_in_parquet(tmp_path: Path) -> None:
    table = {
        "arm": ["a", None, "a", "a"],
        "reward": [1.0, 1.0, None, 0.0],
        "propensity": [0.5, 0.5, 0.5, None],
    }
    polars.DataFrame(table).write_parquet(tmp_path / "log.parquet")
    log = logs.read(tmp_path / "log.parquet")
    assert log.bad == ((2, "no arm"), (3, REWARD), (4, PROPENSITY))
    assert rows(log) == [("a", 1.0, 0.5)]


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    """Of a row that spans several, the last one. Empty lines are no rows, but they are lines."""
    text = 'arm,note,reward,propensity\na,,1,0.5\n\nb,,x,0.5\nc,"two\nlines",1,0\n\n\nd,,1,0.5,more\ne\n'
    log = logs.read(csv(tmp_path, text))
    assert log.bad == ((4, REWARD), (6, PROPENSITY), (9, "more fields than columns"), (10, REWARD))
    assert log.line.tolist() == [2]


def test_bad_rows_are_counted_by_reason_and_the_first_lines_named(tmp_path: Path) -> None:
    text = HEADING + "a,1,0.5\n" + "a,nan,0.5\n" * 1200 + "a,1,2\n" * 2
    log = logs.read(csv(tmp_path, text))
    assert len(log.bad) == 1202
    assert log.report().splitlines() == [
        f"1,200 rows left out: {REWARD} (line 3, 4, 5, 6, 7, ...)",
        f"2 rows left out: {PROPENSITY} (line 1203, 1204)",
    ]


def test_strict_refuses_bad_rows(tmp_path: Path) -> None:
    path = csv(tmp_path, HEADING + "a,1,0.5\na,1,0\n")
    with pytest.raises(thrifty.FileError) as caught:
        logs.read(path, strict=True)
    assert str(caught.value) == f"{path} must have no bad rows, got\n1 row left out: {PROPENSITY} (line 3)"
    assert len(logs.read(csv(tmp_path, HEADING + "a,1,0.5\n"), strict=True)) == 1


def test_unknown_arms() -> None:
    table = columns(("a", 1, 0.5), ("x", 0, 0.25), ("b", 1, 0.25), ("y", None, 0.25), ("x", 0, 0.25))
    log = logs.read(table, arms=["b", "a", "c"])
    assert log.arms == ("b", "a", "c")
    assert log.arm.tolist() == [1, 0]
    assert log.bad == ((2, "unknown arm"), (4, REWARD), (5, "unknown arm"))
    assert log.elsewhere == 2
    with pytest.raises(thrifty.FileError, match=r"2 rows left out: unknown arm \(line 2, 5\)"):
        logs.read(table, arms=["b", "a"], strict=True)
    assert logs.read(columns((0, 1, 0.5), (2, 1, 0.5), (5, 1, 0.5)), arms=3).bad == ((3, "unknown arm"),)


@pytest.mark.parametrize(
    ("arms", "used", "unknown"),
    [
        (3, [0, 1, 2, 2], ["3", "x", "1_0", "9" * 5000]),
        ([2, 3], [2, 2, 3], ["0", "1", "x", "1_0", "9" * 5000]),
        (["2", 2, "x", 3], ["2", 2, 3, "x"], ["0", "1", "1_0", "9" * 5000]),
        (["0", "2"], ["0", "2"], ["1", "02", "3", "x", "1_0", "9" * 5000]),
    ],
    ids=str,
)
def test_whole_numbers_among_the_arms_are_found_in_csv(
    tmp_path: Path, arms: Any, used: list[Any], unknown: list[str]
) -> None:
    texts = ["0", "1", "2", "02", "3", "x", "1_0", "9" * 5000]
    log = logs.read(csv(tmp_path, HEADING + "".join(f"{text},1,0.5\n" for text in texts)), arms)
    assert [name for name, _, _ in rows(log)] == used
    assert log.bad == tuple((2 + texts.index(text), "unknown arm") for text in unknown)


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        (["a", "a"], "an arm's id must be a new one, got 'a' again"),
        ([], "arms must have at least one id, got none"),
        ([["a"]], "an arm's id must be hashable, got ['a']"),
        (1.5, "arms must be a number of arms or a sequence of their ids, got 1.5"),
    ],
)
def test_arms_that_are_none(arms: Any, message: str) -> None:
    with pytest.raises(ThriftyError) as caught:
        logs.read(columns(*GOOD), arms)
    assert str(caught.value) == message


# Time ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "order"),
    [
        (["10", "9", "1e1", "-2"], "dbac"),
        (["2019-11-24 00:01", "2019-11-24 00:00", "2020", "2019-11-24 00:01"], "badc"),
    ],
)
def test_rows_are_in_the_order_of_time_and_otherwise_as_they_were(
    tmp_path: Path, times: list[str], order: str
) -> None:
    text = "time," + HEADING + "".join(f"{t},{name},1,0.5\n" for t, name in zip(times, "abcd", strict=True))
    log = logs.read(csv(tmp_path, text))
    assert "".join(log.arms[i] for i in log.arm) == order
    assert log.line.tolist() == [2 + "abcd".index(name) for name in order]


def test_times_of_other_kinds() -> None:
    hours = [datetime.datetime(2020, 1, 1, hour) for hour in (3, 1, 2)]
    for times in (hours, [3, 1.0, 2], np.array([3, 1, 2]), polars.Series(hours), ["c", "a", "b"]):
        log = logs.read({"arm": ["x", "y", "z"], "reward": [0] * 3, "propensity": [1] * 3, "time": times})
        assert [log.arms[i] for i in log.arm] == ["y", "z", "x"]


@pytest.mark.parametrize("time", [None, float("nan"), ""])
def test_a_row_without_a_time(time: Any) -> None:
    log = logs.read(columns(("a", 1, 0.5, 2), ("b", 1, 0.5, time), ("c", 1, 0.5, 1)))
    assert log.bad == ((2, "no time"),)
    assert [name for name, _, _ in rows(log)] == ["c", "a"]


def test_a_row_without_a_time_does_not_turn_numbers_into_texts(tmp_path: Path) -> None:
    """As texts, 10 would come before 9."""
    text = "arm,reward,propensity,time\na,1,1,10\nb,1,1,\nc,1,1,9\nd,1,1,noon\n"
    log = logs.read(csv(tmp_path, text))
    assert [name for name, _, _ in rows(log)] == ["c", "a"]
    assert log.bad == ((3, "no time"), (5, "no time"))


def test_times_that_cannot_be_compared() -> None:
    with pytest.raises(
        thrifty.FileError, match=r"^the log must have times that can be compared with each other$"
    ):
        logs.read(columns(("a", 1, 1, 3), ("a", 1, 1, "x")))


# What is no log --------------------------------------------------------------------------------------------

LACKS = "must have the columns arm, reward, propensity, and lacks"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"{LACKS} arm, reward, propensity: it has no columns"),
        ("arm,click\na,1\n", f"{LACKS} reward, propensity: it has arm, click"),
        (HEADING, "must have rows that can be used, got none"),
        (
            HEADING + "a,1,0\n",
            f"must have rows that can be used, got none\n1 row left out: {PROPENSITY} (line 2)",
        ),
        (HEADING.encode() + b"a\xff,1,1\n", "must be a CSV file: 'utf-8' codec can't decode byte 0xff in "),
        (
            HEADING + '"' + "a" * 200_000 + '",1,1\n',
            "must be a CSV file: field larger than field limit (131072)",
        ),
    ],
    ids=["empty", "columns", "no rows", "no good rows", "latin", "long"],
)
def test_csv_files_that_are_no_logs(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = csv(tmp_path, text)
    with pytest.raises(thrifty.FileError) as caught:
        logs.read(path)
    assert str(caught.value).startswith(f"{path} {message}")


def test_parquet_files_that_are_no_logs(tmp_path: Path) -> None:
    path = csv(tmp_path, "something else", "x.parquet")
    with pytest.raises(thrifty.FileError, match=r"x\.parquet must be a Parquet file: "):
        logs.read(path)
    polars.DataFrame({"arm": [1]}).write_parquet(path)
    with pytest.raises(
        thrifty.FileError, match=r"x\.parquet must have the columns .* lacks reward, propensity: it has arm$"
    ):
        logs.read(path)
    with pytest.raises(FileNotFoundError):
        logs.read(tmp_path / "nowhere.parquet")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("log.txt", "a log must be a .csv or a .parquet file, got 'log.txt'"),
        (3, "log must be a file or a table with columns, got int"),
        ({"arm": [1], "reward": [1, 2], "propensity": [1]},
         "the log must have columns of one length, got {'arm': 1, 'reward': 2, 'propensity': 1}"),
        ({"arm": [1], "reward": 1, "propensity": [1]}, "the column reward must be a sequence, got 1"),
        ({"arm": "a", "reward": [1], "propensity": [1]}, "the column arm must be a sequence, got 'a'"),
        ({}, f"the log {LACKS} arm, reward, propensity: it has no columns"),
        ({"arm": [1], "click": [1], 7: [1]}, f"the log {LACKS} reward, propensity: it has arm, click, 7"),
    ],
)  # fmt: skip
def test_things_that_are_no_logs(source: Any, message: str) -> None:
    with pytest.raises(ThriftyError) as caught:
        logs.read(source)
    assert str(caught.value) == message


def test_parquet_without_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = csv(tmp_path, "", "x.parquet")
    for name in ("polars", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(thrifty.MissingExtra, match=r"pip install 'thrifty\[frames\]'"):
        logs.read(path)
    assert rows(logs.read(csv(tmp_path, HEADING + "b,1,0.5\n"))) == [("b", 1.0, 0.5)]


# Columns by other names ------------------------------------------------------------------------------------


def test_columns_may_have_other_names_and_separators(tmp_path: Path) -> None:
    expected = [("a", 1.0, 0.5), ("b", 0.0, 0.25)]
    named = {"arm_column": "item", "reward_column": "click", "propensity_column": "p", "time_column": "at"}
    text = "at;item;click;p;arm\n2;b;False;0.25;x\n1;a;True;0.5;y\n"
    table = {"at": [2, 1], "item": ["b", "a"], "click": [False, True], "p": [0.25, 0.5], "arm": [7, 8]}
    assert rows(logs.read(csv(tmp_path, text), separator=";", **named)) == expected  # type: ignore[arg-type]
    assert rows(logs.read(table, **named)) == expected  # type: ignore[arg-type]
    tabs = csv(tmp_path, text.replace(";", "\t"))
    assert rows(logs.read(tabs, separator="\t", **named)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arm_column": "item"}, "the log must have the columns item, reward, propensity, and lacks item: "),
        ({"time_column": "at"}, "the log must have the columns arm, reward, propensity, at, and lacks at: "),
        ({"available_column": "on"}, "and lacks on: it has arm, reward, propensity"),
        ({"target_column": "new"}, "and lacks new: it has arm, reward, propensity"),
        ({"arm_column": 3}, "arm_column must be the name of a column, got 3"),
        ({"reward_column": None}, "reward_column must be the name of a column, got None"),
        ({"time_column": ""}, "time_column must be the name of a column, got ''"),
        ({"reward_column": "arm"}, "arm_column and reward_column must be different columns, got 'arm' for"),
        ({"separator": ";;"}, "separator must be a single character such as ';', got ';;'"),
        ({"separator": "\n"}, r"separator must be a single character such as ';', got '\n'"),
        ({"separator": 3}, "separator must be a single character such as ';', got 3"),
        ({"strict": 1}, "strict must be True or False, got 1"),
        ({"spans": [("a", 1, 2)]}, "spans must map ids to (first, last), got [('a', 1, 2)]"),
        ({"spans": {"a": 3}}, "spans must map ids to (first, last), got 3 for 'a'"),
        ({"spans": {"x": (1, 2)}}, "spans must name arms of the log, got 'x'"),
        ({"spans": {"a": ("x", 2)}}, "spans must be in the lines of the log, got {'a': ('x', 2)}"),
    ],
)
def test_options_that_are_wrong(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ThriftyError) as caught:
        logs.read(columns(*GOOD), **options)
    assert message in str(caught.value)


def test_a_column_that_is_there_twice(tmp_path: Path) -> None:
    """The last one used to win. Columns that are not used may be there as often as they like."""
    path = csv(tmp_path, "arm,reward,propensity,reward,x,x\na,1,0.5,0,1,2\n")
    with pytest.raises(thrifty.FileError) as caught:
        logs.read(path)
    assert str(caught.value) == f"{path} must have one column reward, got 2 of that name"
    assert len(logs.read(csv(tmp_path, "arm,reward,propensity,x,x\na,1,0.5,1,2\n"))) == 1


# Arms that come and go -------------------------------------------------------------------------------------


def sets(log: logs.Log) -> list[set[Any]]:
    return [{log.arms[i] for i in np.flatnonzero(log.sets[which])} for which in log.which]


def test_available_arms_of_each_row(tmp_path: Path) -> None:
    expected = [{"a", "b"}, {"b", "a"}, {"b", "c"}]
    text = HEADING.replace("\n", ",available\n") + "a,1,0.5,a|b\nb,1,0.5, b | a \nc,0,0.5,b|c\n"
    table = {**columns(("a", 1, 0.5), ("b", 1, 0.5), ("c", 0, 0.5))}
    frame = polars.DataFrame({**table, "available": [["a", "b"], ["b", "a"], ["b", "c"]]})
    frame.write_parquet(tmp_path / "log.parquet")
    on = [("a", "b"), frozenset("ab"), np.array(["c", "b"])]
    for source in (csv(tmp_path, text), frame, tmp_path / "log.parquet", {**table, "available": on}):
        log = logs.read(source)
        assert sets(log) == expected
        assert log.choices.tolist() == [2, 2, 2]
        assert log.changing
    assert sets(logs.read({**table, "on": on}, available_column="on")) == expected
    assert not logs.read(table).changing
    assert sets(logs.read(table)) == [{"a", "b", "c"}] * 3


def test_bad_sets_of_arms() -> None:
    on = [["a"], ["b"], [], None, [["a"]], ["a", "b"], ["c"]]
    table = {"arm": ["a", "a", "a", "a", "a", "b", "c"], "reward": [1] * 7, "propensity": [0.5] * 7}
    log = logs.read({**table, "available": on}, arms=["a", "b"])
    assert log.bad == (
        (2, "its arm is not among those available"),
        (3, "no arm is available"),
        (4, "available is not a list of ids"),
        (5, "available is not a list of ids"),
        (7, "none of the arms is available"),
    )
    assert sets(log) == [{"a"}, {"a", "b"}]
    assert log.elsewhere == 0


def test_an_arm_that_is_available_and_never_chosen_is_an_arm() -> None:
    log = logs.read({**columns(("a", 1, 0.5), ("a", 0, 0.5)), "available": [["a", "b"], ["a", "b"]]})
    assert log.arms == ("a", "b")


def test_spans_in_lines_and_in_times(tmp_path: Path) -> None:
    text = HEADING + "a,1,0.5\nb,1,0.5\nc,1,0.5\nb,1,0.5\n"
    log = logs.read(csv(tmp_path, text), spans={"b": (3, 4), "c": (4, None)})
    assert sets(log) == [{"a"}, {"a", "b"}, {"a", "b", "c"}]
    assert log.bad == ((5, "its arm is not in its span"),)
    table = columns(("a", 1, 0.5, 30), ("b", 1, 0.5, 10), ("c", 1, 0.5, 20))
    log = logs.read(table, spans={"b": (None, 20), "c": (15, 25.0)})
    assert sets(log) == [{"a", "b"}, {"a", "b", "c"}, {"a"}]
    with pytest.raises(thrifty.InvalidValue, match="spans must not be given for a log with a"):
        logs.read({**columns(*GOOD), "available": [["a", "b"]] * 3}, spans={"b": (1, 2)})


def test_no_arm_may_be_left() -> None:
    """Rows in which none of the arms was there tell nothing, also if they are of unknown arms."""
    table = columns(("a", 1, 0.5), ("x", 1, 0.5), ("b", 1, 0.5), ("x", 1, 0.5))
    log = logs.read(table, arms=["a", "b"], spans={"a": (1, 1), "b": (3, 4)})
    assert log.bad == ((2, "none of the arms is available"), (4, "unknown arm"))
    assert log.elsewhere == 1
    assert log.others.tolist() == [2]


def test_parts_of_a_log() -> None:
    table = columns(*((name, 1, 0.5) for name in "abxabx"))
    log = logs.read(table, arms=["a", "b"])
    first, second = log.part(0, 2), log.part(2, 4)
    assert (len(first), len(second)) == (2, 2)
    assert (first.elsewhere, second.elsewhere) == (0, 2)
    assert second.line.tolist() == [4, 5]
    assert (log.total, log.row.tolist()) == (6, [0, 1, 3, 4])


def test_probabilities_of_another_policy() -> None:
    table = {**columns(("a", 1, 0.5), ("b", 1, 0.5), ("b", 1, 0.5)), "new": [0.25, 1.5, "0"]}
    log = logs.read(table, target_column="new")
    assert log.target is not None
    assert log.target.tolist() == [0.25, 0.0]
    assert log.bad == ((2, "target is not in [0, 1]"),)
    assert logs.read(table).target is None


def test_another_separator_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("arm;reward;propensity\n0;1;0.5\n")
    with pytest.raises(thrifty.FileError, match=r"columns separated by ',', got ';': say so \(separator\)"):
        logs.read(tmp_path / "log.csv")
