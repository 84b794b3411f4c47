"""docs/environments.md: its programs run, one after the other."""

import contextlib
import io
import re
import types
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "environments.md"


def test_the_programs_of_the_page_run() -> None:
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    page, printed = types.ModuleType("page"), io.StringIO()
    with contextlib.redirect_stdout(printed):
        for program in programs:
            exec(compile(program, PAGE.name, "exec"), page.__dict__)
    assert len(programs) == 4
    assert printed.getvalue().count("stuck") == 5, "a summary for each simulation"
    assert page.data.expectations.round(3).tolist() == [0.433, 0.5]
    assert page.result.labels == ("EpsilonGreedy(epsilon=0.1)", "ε-greedy (ε=0.1)")
