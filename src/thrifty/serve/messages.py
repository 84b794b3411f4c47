"""The contract: what requests and answers look like. OpenAPI is made from it."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

MOST_ARMS = 10_000_000
MOST_NEW = 10_000  # arms of a request
MOST_DECISIONS = 10_000  # of a request
MOST_REWARDS = 10_000

Name = Annotated[str, Meta(min_length=1, max_length=200)]
ArmNames = Annotated[list[Name], Meta(min_length=1, max_length=MOST_ARMS)]


class Definition(Struct, forbid_unknown_fields=True, kw_only=True):
    """An experiment, as it is created."""

    policy: dict[str, Any]
    arms: ArmNames | Annotated[int, Meta(ge=1, le=MOST_ARMS)]
    reward_range: tuple[float, float] | None = (0.0, 1.0)
    prior: tuple[float, float] | None = None
    horizon: Annotated[int, Meta(ge=1)] | None = None
    half_life: Annotated[float, Meta(gt=0)] | None = None
    control: Annotated[float, Meta(ge=0, le=1)] = 0.0
    control_arm: Name | None = None
    floor: Annotated[float, Meta(ge=0, le=1)] = 0.0
    burn_in: Annotated[int, Meta(ge=0, le=10**9)] = 0
    reward_window: Annotated[float, Meta(ge=1, le=10 * 366 * 86400)] = 86400.0
    default_reward: float | None = None


class Patch(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What is changed of an experiment."""

    policy: dict[str, Any] | UnsetType = UNSET
    reward_window: Annotated[float, Meta(ge=1, le=10 * 366 * 86400)] | UnsetType = UNSET
    default_reward: float | UnsetType | None = UNSET
    control: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    floor: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    paused: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET


class NewArms(Struct, forbid_unknown_fields=True):
    arms: Annotated[list[Name], Meta(min_length=1, max_length=MOST_NEW)]


class ArmPatch(Struct, forbid_unknown_fields=True):
    paused: bool


class Ask(Struct, forbid_unknown_fields=True, kw_only=True):
    """Which arm to show: ``count`` decisions, or ``rank`` different arms, the best first."""

    count: Annotated[int, Meta(ge=1, le=MOST_DECISIONS)] | None = None
    rank: Annotated[int, Meta(ge=1, le=MOST_DECISIONS)] | None = None
    among: Annotated[list[Name], Meta(min_length=1)] | None = None
    exclude: list[Name] | None = None
    probability: bool = False
    key: Name | None = None


class Made(Struct):
    """A decision."""

    id: str
    arm: str
    control: bool
    probability: float | None


class Decisions(Struct):
    decisions: list[Made]
    position: str
    degraded: bool


class Reward(Struct, forbid_unknown_fields=True, kw_only=True):
    """A reward, or that there will be none."""

    decision: Annotated[str, Meta(max_length=200)]
    reward: float | UnsetType = UNSET
    cancel: bool | UnsetType = UNSET


class Rewards(Struct, forbid_unknown_fields=True):
    rewards: Annotated[list[Reward], Meta(min_length=1, max_length=MOST_REWARDS)]


class Result(Struct):
    status: str
    detail: str


class Results(Struct):
    results: list[Result]


class Experiment(Struct, kw_only=True):
    """An experiment, as it is now."""

    name: str
    policy: dict[str, Any]
    arms: int
    reward_range: tuple[float, float] | None
    prior: tuple[float, float] | None
    horizon: int | None
    half_life: float | None
    control: float
    control_arm: str | None
    floor: float
    burn_in: int
    reward_window: float
    default_reward: float | None
    paused: bool
    archived: bool
    created: str
    decisions: int
    pending: int
    pulls: int
    mean: float | None


class Experiments(Struct):
    experiments: list[Experiment]
    next: str | None


class Arm(Struct):
    arm: str
    pulls: int
    mean: float | None
    pending: int
    paused: bool


class ArmsPage(Struct):
    arms: list[Arm]
    next: str | None


class Ready(Struct):
    """It serves. ``degraded``: the store cannot be written to. ``due``: why nothing that is due is closed."""

    status: str
    degraded: bool
    due: str


class Problem(Struct, omit_defaults=True):
    """What went wrong (RFC 9457)."""

    title: str
    status: int
    detail: str
    request_id: str
    field: str = ""
    type: str = "about:blank"


def canonical(definition: Definition) -> bytes:
    """One spelling of a definition, to compare it by."""
    return msgspec.json.encode(definition, order="deterministic")
