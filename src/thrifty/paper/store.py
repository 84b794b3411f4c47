"""Results on disk: an experiment that was simulated once is read back, never simulated again."""

from collections.abc import Callable, Sequence
from pathlib import Path

from thrifty.errors import FileError
from thrifty.paper.experiments import Experiment
from thrifty.simulation.plan import Plan, plan
from thrifty.simulation.progress import bar
from thrifty.simulation.result import Result
from thrifty.simulation.run import execute, work


def gather(
    experiments: Sequence[Experiment],
    folder: Path,
    seed: int,
    workers: int,
    *,
    progress: bool,
    note: Callable[[str], None] = lambda line: None,
) -> dict[str, Result]:
    """The result of each experiment by name: read from ``folder`` if it is there, else simulated and saved.

    A file with other settings is an error, found before anything is simulated; nothing is overwritten.
    ``note`` is told of each one before it begins, for where no progress bar can be shown.
    """
    plans = {one.name: _plan(one, seed) for one in experiments}
    results = {
        name: _read(path, ready) for name, ready in plans.items() if (path := folder / f"{name}.npz").exists()
    }
    folder.mkdir(parents=True, exist_ok=True)
    waiting = [name for name in plans if name not in results]
    total = sum(work(plans[name]) for name in waiting)
    with bar(total, "simulating", shown=progress and total > 0) as advance:
        for name in waiting:
            note(f"simulating {name}, {len(results) + 1} of {len(plans)}")
            results[name] = execute(plans[name], workers, advance)
            results[name].save(folder / f"{name}.npz")
    return results


def _plan(one: Experiment, seed: int) -> Plan:
    return plan(one.policies, one.problem, one.horizon, one.runs, seed, one.prior, engine=one.engine)


def _read(path: Path, ready: Plan) -> Result:
    result = Result.load(path)
    if result.settings == ready.settings:
        return result
    names = ("seed", "runs", "horizon")
    there, here = (
        ", ".join(f"{name} {getattr(one, name)}" for name in names)
        for one in (result.settings, ready.settings)
    )
    reason = f"{there}, and this call has {here}" if there != here else "other policies or another problem"
    raise FileError(f"{path} was made with {reason}: choose another folder, or ask for the same again")
