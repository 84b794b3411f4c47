"""What an administrator can do on the pages: each is asked for, confirmed, and then done by the service,
which says no as it does to a request."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from thrifty.errors import InvalidValue, ThriftyError
from thrifty.policies import POLICIES
from thrifty.serve import own
from thrifty.serve.arms import read_policy, table_of
from thrifty.serve.experiments import Experiment
from thrifty.serve.messages import NewArms, Patch
from thrifty.serve.service import Service


class Action(NamedTuple):
    """What is asked before it is done, and what the button says."""

    title: str
    text: str
    button: str
    done: str
    danger: bool = False


ACTIONS = {
    "pause": Action(
        "Pause this experiment?",
        "No decisions are made until it is resumed. Rewards of decisions that were made still count.",
        "Pause",
        "The experiment is paused.",
    ),
    "resume": Action("Resume this experiment?", "Decisions are made again.", "Resume", "It runs again."),
    "archive": Action(
        "Archive this experiment?",
        "No decisions are made, and rewards are refused, also of decisions that were made. Nothing is "
        "deleted, and it can be brought back.",
        "Archive",
        "The experiment is archived.",
        danger=True,
    ),
    "restore": Action(
        "Bring this experiment back?",
        "Decisions are made again, and rewards count that are not too late.",
        "Bring back",
        "The experiment is back.",
    ),
    "policy": Action(
        "Change the policy",
        "The new policy takes over all that is known of the arms. One that was never used on this machine is "
        "compiled first, which takes some seconds.",
        "Change",
        "The policy is changed.",
    ),
    "add": Action("Add arms", "One for each line.", "Add", "The arms are added."),
    "pause-arm": Action(
        "Pause this arm?",
        "It is not chosen until it is resumed. What is known of it stays.",
        "Pause",
        "The arm is paused.",
    ),
    "resume-arm": Action("Resume this arm?", "It can be chosen again.", "Resume", "The arm is resumed."),
    "remove-arm": Action(
        "Remove this arm?",
        "It is never chosen again, and what is known of it is forgotten: an arm of the same name that is "
        "added later begins anew.",
        "Remove",
        "The arm is removed.",
        danger=True,
    ),
}


@cache
def playable() -> tuple[str, ...]:
    """The policies that an experiment may have as they are."""

    def plays(name: str) -> bool:
        try:
            return bool(read_policy({"name": name}))
        except ThriftyError:
            return False

    return tuple(name for name in (*POLICIES, *own.LISTED) if plays(name))


class Asked(NamedTuple):
    """An action that is asked for, with what was filled in."""

    what: str
    action: Action
    form: dict[str, str]

    @property
    def arm(self) -> str:
        """The arm that it is about. In forms its name is percent-encoded: they change ends of lines."""
        return unquote(self.form.get("arm", ""))


def asked(form: Mapping[str, str], experiment: Experiment) -> Asked:
    """The action that a query or a form names, with fields filled in as they are now."""
    what = form.get("what", "")
    filled = dict(form)
    for name in ("pause-arm", "resume-arm", "remove-arm"):  # buttons in the rows of arms
        if name in form:
            what, filled["arm"] = name, form[name]
    if what not in ACTIONS:
        raise InvalidValue(f"what must be one of {', '.join(ACTIONS)}, got {what[:100]!r}")
    if what == "policy" and "policy" not in form:
        now = experiment.now.policy
        usual = table_of(read_policy({"name": now["name"]})) if now["name"] in playable() else {"name": ""}
        given = {name: value for name, value in now.items() if name != "name" and usual.get(name) != value}
        filled["policy"] = now["name"]
        filled["parameters"] = msgspec.json.encode(given).decode() if given else ""
    return Asked(what, ACTIONS[what], filled)


async def do(service: Service, experiment: str, asked: Asked, author: str) -> None:
    """Do it, or say why not."""
    what, form = asked.what, asked.form
    if what == "add":
        lines = form.get("arms", "").replace("\r\n", "\n").split("\n")
        new = msgspec.convert({"arms": [line for line in lines if line.strip()]}, NewArms)
        await service.add_arms(experiment, new.arms, author)
    elif what == "remove-arm":
        await service.remove_arm(experiment, asked.arm, author)
    elif what in ("pause-arm", "resume-arm"):
        await service.pause_arm(experiment, asked.arm, what == "pause-arm", author)
    else:
        await service.patch(experiment, _patch(what, form), author)


def _patch(what: str, form: dict[str, str]) -> Patch:
    if what == "policy":
        return Patch(policy={**_parameters(form.get("parameters", "")), "name": form.get("policy", "")})
    if what in ("pause", "resume"):
        return Patch(paused=what == "pause")
    return Patch(archived=what == "archive")


def _parameters(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError):
        raise InvalidValue(f'parameters must be JSON, like {{"alpha": 0.5}}, got {text[:200]!r}') from None
