"""Positions of calls: those of the script, whatever order its agents end in."""

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import AgentEnd, ScriptResult
from harness.plan_script import AgentFailed, Plan
from harness.plan_script.plan import AgentOrder

Tree = str | list["Tree"]
"""What a script does: a call, or a list of branches with such things, which run side by side."""
trees = st.lists(
    st.recursive(st.text("ab", min_size=1, max_size=2), lambda inner: st.lists(inner, max_size=3)), max_size=4
)


class Slow:
    """Agents that end in any order; "b" fails."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.asked: dict[str, str] = {}

    async def run(self, order: AgentOrder) -> tuple[ScriptResult, str]:
        for _ in range(self.random.randrange(9)):
            await asyncio.sleep(0)
        end = AgentEnd.FAILED if order.prompt == "b" else AgentEnd.ANSWERED
        at = float(len(order.position) + len(order.prompt))
        return ScriptResult(order.position, order.digest, "a1", end, order.prompt, answered_at=at), order.prompt.upper()

    def ask(self, order: AgentOrder) -> None:
        assert order.position not in self.asked
        self.asked[order.position] = order.prompt

    def phase(self, name: str) -> None: ...

    def budget(self, usd: float) -> None: ...


def positions(tree: list[Tree], before: str = "") -> dict[str, str]:
    """The oracle: the same by counting alone."""
    found: dict[str, str] = {}
    for number, one in enumerate(tree, 1):
        if isinstance(one, str):
            found[f"{before}{number}"] = one
        else:
            for at, branch in enumerate(one, 1):
                found |= positions([branch], f"{before}{number}.{at}.")
    return found


async def walked(plan: Plan, tree: list[Tree]) -> list[object]:
    seen: list[object] = []
    for one in tree:
        if isinstance(one, str):
            answer = await plan.agent(one, raises=False)
            seen.append(answer.reason if isinstance(answer, AgentFailed) else answer)
        else:
            seen.append(await plan.parallel(walked(plan, [branch]) for branch in one))
        seen += [plan.random.random(), plan.now()]
    return seen


@given(trees, st.integers(), st.integers())
def test_positions_randomness_and_time_do_not_depend_on_who_ends_first(tree: list[Tree], one: int, other: int) -> None:
    seen = []
    for seed in (one, other):
        runner = Slow(seed)
        seen.append(asyncio.run(walked(Plan(runner, (), seed=7, began=1.0), tree)))
        assert runner.asked == positions(tree)
    assert seen[0] == seen[1]


def test_a_failure_is_an_exception_or_a_value_and_parallel_waits_for_all() -> None:
    async def main(plan: Plan) -> None:
        ended: list[str] = []

        async def branch(prompt: str) -> None:
            ended.append(await plan.agent(prompt))

        with pytest.raises(AgentFailed, match="agent x did not finish"):
            await plan.parallel(plan.agent("b", name="x"), branch("a"), branch("aa"))
        assert sorted(ended) == ["A", "AA"]
        assert [type(one) for one in await plan.parallel(plan.agent("b", raises=False), plan.agent("a"))] == [
            AgentFailed,
            str,
        ]
        call = plan.agent("a")
        assert (await call, await call) == ("A", "A")

    asyncio.run(main(Plan(Slow(1), (), seed=0, began=0.0)))
