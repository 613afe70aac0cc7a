"""A naive second implementation of the breaker rules, to compare with the registry.

Keeps only the list of events, and replays all of it into plain dictionaries for each question. Shares no code with
the registry. Slow, and meant to be read next to the rules.
"""

from dataclasses import dataclass, field
from typing import Any

from harness.events import DispatchLimits, Failure

INTERVALS = [3, 6, 12]
MOST = 20


@dataclass
class World:
    """The state after all entries of the list."""

    limits: DispatchLimits
    tools: dict[str, dict[str, Any]]
    step: int = 0
    charges: list[tuple[str, str]] = field(default_factory=list)
    """Of this cycle: signature and tool, in order."""
    systemic: set[str] = field(default_factory=set)
    """Signatures that cost one failure in this cycle."""
    exhausted: bool = False
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    scores: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By tool: the score, and the step at which it expires."""
    plan: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    """Every request with its answer."""
    suspected: set[str] = field(default_factory=set)
    """Signatures with which two tools were open together at some time."""
    late: int = 0
    """Results that came after their breaker had moved on."""


class Oracle:
    """The list, and the questions that can be asked about it."""

    def __init__(
        self, tools: list[str], alternatives: dict[str, list[str]], depends_on: dict[str, list[str]] | None = None
    ) -> None:
        self.tools = tools
        self.alternatives = alternatives
        self.depends_on = depends_on or {}
        self.history: list[tuple[Any, ...]] = []

    def happens(self, *entry: Any) -> None:
        """Add to the list: ("step", n), ("cycle",), ("limits", limits), ("plan", [(status, tools)]),
        ("score", tool, score), ("command", command, tool), ("ask", tool), ("result", number of the request, what)."""
        self.history.append(entry)

    def world(self) -> World:
        """Everything, from the beginning."""
        fresh = {
            name: {"state": "closed", "failures": 0, "generation": 0, "opened": 0, "due": None, "lease": 0, "sign": ""}
            for name in self.tools
        }
        world = World(DispatchLimits(), fresh)
        for entry in self.history:
            getattr(self, f"_{entry[0]}")(world, *entry[1:])
        return world

    # ── what happens ────────────────────────────────────────────────────────────────────────────

    def _step(self, world: World, number: int) -> None:
        world.step = number
        for tool in world.tools.values():
            if tool["state"] == "half-open" and number >= tool["lease"]:
                self._becomes(tool, "open", due=number)

    def _cycle(self, world: World) -> None:
        world.charges = []
        world.exhausted = False
        world.systemic = set(world.groups)

    def _limits(self, world: World, limits: DispatchLimits) -> None:
        larger = limits.budget > world.limits.budget
        world.exhausted = (world.exhausted and not larger) or self.consumed(world) >= limits.budget
        world.limits = limits

    def _plan(self, world: World, items: list[tuple[str, tuple[str, ...]]]) -> None:
        world.plan = items

    def _score(self, world: World, tool: str, score: str) -> None:
        world.scores[tool] = score, world.step + world.limits.score_lasts

    def _command(self, world: World, command: str, name: str) -> None:
        if command == "confirm":
            for group in world.groups.values():
                if group["phase"] == "systemic":
                    group["due"], group["confirmed"] = world.step, True
            return
        for one in [name] if name else self.tools:
            tool = world.tools[one]
            if command == "trip":
                self._becomes(tool, "open", opened=world.step, due=world.step + world.limits.probe_distance)
            elif command == "isolate":
                self._becomes(tool, "open", opened=world.step, due=None)
            elif command == "release":
                if not (tool["state"] == "open" and tool["due"] is None):
                    continue
                self._becomes(tool, "open", due=world.step)
            else:
                self._becomes(tool, "closed", failures=0)
            self._leaves(world, one)

    def _ask(self, world: World, name: str) -> None:
        dispatch, reason = self.answer(world, name)
        generation = world.tools[name]["generation"] if name in world.tools else 0
        if dispatch == "probe":
            tool = world.tools[name]
            self._becomes(tool, "half-open", lease=world.step + world.limits.lease)
            generation = tool["generation"]
            for group in world.groups.values():
                if name in group["members"]:
                    group["probed"] = world.step
        world.asked.append({"tool": name, "dispatch": dispatch, "reason": reason, "generation": generation})

    def _result(self, world: World, number: int, what: Any) -> None:
        request = world.asked[number]
        name, tool = request["tool"], world.tools[request["tool"]]
        if request["generation"] != tool["generation"]:
            world.late += 1
            return
        probe = tool["state"] == "half-open"
        if isinstance(what, Failure):
            self._fails(world, name, what.signature, probe=probe)
        elif what == "ok" and probe:
            self._becomes(tool, "closed", failures=0)
            tool["sign"] = ""
            group = self.group_of(world, name)
            if group:
                group["members"].discard(name)
                group["phase"] = "recovering"
                self._drop_empty(world)
        elif what == "ok":
            tool["failures"] = 0
        elif probe:
            self._becomes(tool, "open", due=world.step)

    def _fails(self, world: World, name: str, signature: str, *, probe: bool) -> None:
        tool = world.tools[name]
        threshold = world.limits.threshold
        if self.score(world, name) == "degraded" and threshold > 2:
            threshold -= 1
        tool["failures"] += 1
        world.charges.append((signature, name))
        if self.consumed(world) >= world.limits.budget:
            world.exhausted = True
        if not probe and tool["failures"] < threshold:
            return
        self._becomes(tool, "open", opened=world.step, due=world.step + world.limits.probe_distance)
        mine = self.group_of(world, name)
        if mine and (mine["phase"] == "systemic" or mine["signature"] == signature):
            tool["sign"] = mine["signature"]
            self._waits_longer(world, mine)
            return
        if mine:
            mine["members"].discard(name)
            self._drop_empty(world)
        tool["sign"] = signature
        if not signature:
            return
        if signature in world.groups:
            group = world.groups[signature]
            group["members"].add(name)
            if group["phase"] == "recovering":
                self._waits_longer(world, group)
            return
        together = {
            one
            for one, other in world.tools.items()
            if other["sign"] == signature and other["state"] != "closed"
            if world.step - other["opened_by_failure"] <= world.limits.window or one == name
        }
        tool["opened_by_failure"] = world.step
        if len(together) == 2:
            world.suspected.add(signature)
        if len(together) >= 3:
            world.groups[signature] = {
                "signature": signature,
                "members": together,
                "phase": "systemic",
                "due": world.step + 3,
                "failed": 0,
                "confirmed": False,
                "probed": None,
            }
            world.systemic.add(signature)
            world.scores = {}

    def _waits_longer(self, world: World, group: dict[str, Any]) -> None:
        group["failed"] += 1
        group["phase"], group["confirmed"] = "systemic", False
        interval = INTERVALS[group["failed"]] if group["failed"] < len(INTERVALS) else MOST
        group["due"] = world.step + interval

    def _leaves(self, world: World, name: str) -> None:
        world.tools[name]["sign"] = ""
        for group in world.groups.values():
            group["members"].discard(name)
        self._drop_empty(world)

    def _drop_empty(self, world: World) -> None:
        world.groups = {signature: group for signature, group in world.groups.items() if group["members"]}

    def _becomes(self, tool: dict[str, Any], state: str, **values: Any) -> None:
        tool.update(values, state=state, generation=tool["generation"] + 1)
        tool.setdefault("opened_by_failure", 0)
        if state != "open":
            tool["due"] = None

    # ── what can be asked ───────────────────────────────────────────────────────────────────────

    def group_of(self, world: World, name: str) -> dict[str, Any] | None:
        """The group of a tool."""
        return next((group for group in world.groups.values() if name in group["members"]), None)

    def score(self, world: World, name: str) -> str | None:
        """The current health score of a tool."""
        score, until = world.scores.get(name, (None, 0))
        return score if world.step < until else None

    def consumed(self, world: World) -> int:
        """What this cycle has cost."""
        total = 0
        for signature in {signature for signature, _ in world.charges}:
            tools = [tool for charged, tool in world.charges if charged == signature]
            if not signature:
                total += len(tools)
            elif signature in world.systemic:
                total += 1
            else:
                total += max(tools.count(tool) for tool in tools)
        return total

    def caution(self, world: World) -> bool:
        """Every decision is to be made with care."""
        together = any(group["phase"] == "systemic" for group in world.groups.values())
        return world.exhausted or together or self.consumed(world) >= world.limits.budget - 1

    def viable(self, world: World, name: str) -> bool:
        """The tool would simply be called."""
        return (
            name in world.tools and world.tools[name]["state"] == "closed" and self.score(world, name) != "unavailable"
        )

    def answer(self, world: World, name: str) -> tuple[str, str]:
        """The decision about a request, and its reason."""
        if name not in world.tools:
            return "skip", "unknown_tool"
        if world.exhausted:
            return "pause", "budget_spent"
        dispatch, reason = self._answer(world, name)
        left = [tools for status, tools in world.plan if status != "done"]
        if (
            dispatch == "skip"
            and left
            and all(any(not self._possible(world, tool) for tool in tools) for tools in left)
        ):
            return "pause", "nothing_left"
        return dispatch, reason

    def _possible(self, world: World, name: str) -> bool:
        """By the tool, or by whatever can take its place, directly or in turn."""
        reached, left = set(), [name]
        while left:
            one = left.pop()
            if self.viable(world, one):
                return True
            if one not in reached:
                reached.add(one)
                left += self.alternatives.get(one, [])
        return False

    def _answer(self, world: World, name: str) -> tuple[str, str]:
        tool = world.tools[name]
        if tool["state"] == "open" and tool["due"] is None:
            return "skip", "isolated"
        if self.score(world, name) == "unavailable":
            return "skip", "unavailable"
        if tool["state"] == "closed":
            return "call", "degraded" if self.score(world, name) == "degraded" else "healthy"
        if tool["state"] == "half-open":
            return "skip", "probe_out"
        group = self.group_of(world, name)
        if group:
            out = any(world.tools[member]["state"] == "half-open" for member in group["members"])
            if group["phase"] == "recovering":
                return ("skip", "recovering") if out or group["probed"] == world.step else ("probe", "recovering")
            if world.limits.cascade == "confirm" and not group["confirmed"]:
                return "skip", "unconfirmed"
            return ("skip", "systemic") if out or world.step < group["due"] else ("probe", "canary")
        waits_for = {name}
        while more := {other for one in waits_for for other in self.depends_on.get(one, [])} - waits_for:
            waits_for |= more
        dues = [
            world.tools[one]["due"]
            for one in waits_for
            if one in world.tools and world.tools[one]["state"] == "open" and world.tools[one]["due"] is not None
        ]
        if world.step >= min(max(dues), tool["opened"] + MOST):
            return "probe", "probe_due"
        return "skip", "dependency" if world.step >= tool["due"] else "open"
