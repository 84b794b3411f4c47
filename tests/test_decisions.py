"""docs/decisions.md: its programs run, one after the other."""

import contextlib
import io
import re
import types
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "decisions.md"


def test_the_programs_of_the_page_run() -> None:
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    page, printed = types.ModuleType("page"), io.StringIO()
    with contextlib.redirect_stdout(printed):
        for program in programs:
            exec(compile(program, PAGE.name, "exec"), page.__dict__)
    assert len(programs) == 3
    assert not page.bandit.reward(page.decision, 1.0)
    assert 0.0 < page.lift.low < page.lift.difference < page.lift.high < 0.3
    assert "and 0 pending" in printed.getvalue()
