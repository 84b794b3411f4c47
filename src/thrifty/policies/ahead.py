"""Compile everything that there is, before anything is decided."""

import numpy as np

from thrifty.engines.memory import Rule
from thrifty.policies import POLICIES
from thrifty.policies.catalogue import chosen
from thrifty.policies.compiled import SHARED_HOOKS, shared_hook
from thrifty.policies.program import CALLED, program
from thrifty.problems import PULLS, address_of


def compile_all() -> None:
    """Every policy with every choice, on every engine that runs it, and every reward."""
    for pull in PULLS:
        address_of(pull)
    for hook in SHARED_HOOKS:
        shared_hook(hook)
    for kind in POLICIES.values():
        for policy in chosen(kind):
            for engine in policy.runs_on:
                playing = program(policy, engine)
                playing.compile(playing.memory(Rule(2, 2), np.ones(4, np.uint64)), *CALLED)
