"""Ways round tools that are not run.

A plan asks for calls and knows nothing of breakers. What stands around it here reads the answers: where a call was
skipped, the best of the offered ways that the practice model knows how to take is asked for in its place, and the
plan is given what that brings. The report then says what was lost by it, in the words of the answer.
"""

from collections.abc import Generator, Iterable, Sequence

from harness.practice.improviser import phrases as say
from harness.practice.improviser.plan_context import Setting, described
from harness.practice.improviser.plan_recovery import Ask, Plan, joined_reports
from harness.practice.improviser.results import FileText, file_text
from harness.practice.improviser.skips import Skip, Way, skip_of
from harness.practice.improviser.toolset import Ability, NoTool, ToolSet, Wish
from harness.practice.improviser.turns import Call, Exchange, Result

ROUNDS_WITHOUT = 8
"""Asks of a plan for which a tool that was skipped is not called again."""
MOST_NAMED = 6

Answers = Generator[Ask, tuple[Result, ...], tuple[Result, ...]]


def with_detours(setting: Setting, plan: Plan) -> Plan:
    """The plan, which takes the ways round that it is offered, and stops where the turn pauses."""
    detours = _Detours(setting)
    try:
        ask = next(plan)
        while True:
            results = yield from detours.answers(ask)
            if any(result.paused for result in results):
                left = [call for call, result in zip(ask.calls, results, strict=True) if result.failed]
                return setting.say(say.PAUSED, done=named(setting, detours.done), left=named(setting, left))
            ask = plan.send(results)
    except StopIteration as end:
        return joined_reports((str(end.value), *dict.fromkeys(detours.notes)))
    finally:
        plan.close()


def named(setting: Setting, calls: Sequence[Call]) -> str:
    """The calls in one line, the last of them where they are many."""
    names = [described(call) for call in calls]
    shown = (["…"] if len(names) > MOST_NAMED else []) + names[-MOST_NAMED:]
    return ", ".join(shown) or setting.say(say.NOTHING)


def calls_that_worked(exchanges: Sequence[Exchange]) -> tuple[Call, ...]:
    """The calls that did what they were asked for."""
    return tuple(exchange.call for exchange in exchanges if not exchange.result.failed)


class _Detours:
    """What one run of a plan has learned about the tools."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._round = 0
        self._skips: dict[str, tuple[int, Skip]] = {}
        """The last skip of each tool, and in which round it was."""
        self._texts: dict[str, FileText] = {}
        """The files that were read, by path."""
        self.notes: list[str] = []
        """What the report has to add."""
        self.done: list[Call] = []

    def answers(self, ask: Ask) -> Answers:
        """The results of what a plan asks for, by whatever way. A call that no way leads to keeps its skip."""
        self._round += 1
        waiting = dict(enumerate(ask.calls))
        results: dict[int, Result] = {}
        words = ask.words
        while waiting:
            steps = {place: self._step(wanted) for place, wanted in waiting.items()}
            results |= {place: step.result for place, step in steps.items() if isinstance(step, Skip)}
            sent = {place: step for place, step in steps.items() if not isinstance(step, Skip)}
            waiting = {place: waiting[place] for place in sent}
            if not sent:
                break
            brought = yield Ask(words, tuple(call for call, _ in sent.values()))
            for (place, (call, way)), result in zip(sent.items(), brought, strict=True):
                if result.skipped:
                    self._skips[call.name] = self._round, skip_of(result)
                    continue
                results[place] = self._judged(waiting.pop(place), call, way, result)
            words = self._words(waiting.values())
        return tuple(results[place] for place in range(len(ask.calls)))

    def _step(self, wanted: Call) -> tuple[Call, Way | None] | Skip:
        """What to call for it now: itself, or another way; its skip where there is none."""
        skip = self._skip(wanted.name)
        if skip is None:
            return wanted, None
        wish = self._setting.tools.wish(wanted)
        for way in skip.ways if wish else ():
            instead = self._instead(wish, way.tool) if wish and self._skip(way.tool) is None else None
            if instead is not None:
                return instead, way
        return skip

    def _skip(self, tool: str) -> Skip | None:
        since, skip = self._skips.get(tool, (0, None))
        return skip if self._round - since < ROUNDS_WITHOUT else None

    def _instead(self, wish: Wish, tool: str) -> Call | None:
        """A call of `tool` that grants the wish; None where this model knows none."""
        tools = self._setting.tools.only(tool)
        try:
            match wish:
                case Wish(Ability.EDIT, {"path": path, "old": old, "new": new}):
                    return self._rewritten(tools, path, old, new)
                case _:
                    return _granted(tools, wish)
        except NoTool:
            return None

    def _rewritten(self, tools: ToolSet, path: str, old: str, new: str) -> Call | None:
        """The whole file with the change made, if all of it has been seen."""
        text = self._texts.get(path)
        if text is None or not text.whole or text.text.count(old) != 1:
            return None
        return tools.write(path, "".join(f"{line}\n" for line in text.text.replace(old, new).split("\n")))

    def _judged(self, wanted: Call, call: Call, way: Way | None, result: Result) -> Result:
        """The result for the plan; what has to be said of the way to it is noted."""
        if way is not None and result.denied:
            self.notes.append(self._setting.say(say.DETOUR_DENIED, what=described(call)))
            return self._skips[wanted.name][1].result
        if not result.failed:
            self._learn(wanted, result)
            self.done.append(call)
        if way is not None and not result.not_run:
            lost = way.degradation.rstrip(".")
            self.notes.append(self._setting.say(say.LOST, tool=wanted.name, other=way.tool, degradation=lost))
        return result

    def _learn(self, wanted: Call, result: Result) -> None:
        match self._setting.tools.wish(wanted):
            case Wish(Ability.READ, {"path": path}):
                self._texts[path] = file_text(result)
            case Wish(Ability.WRITE | Ability.EDIT, {"path": path}):
                self._texts.pop(path, None)

    def _words(self, waiting: Iterable[Call]) -> str:
        """Which other ways are taken next."""
        told: list[str] = []
        for wanted in waiting:
            match self._step(wanted):
                case (_, Way(tool=other)):
                    told.append(self._setting.say(say.WILL_DETOUR, tool=wanted.name, other=other))
        return " ".join(dict.fromkeys(told))


def _granted(tools: ToolSet, wish: Wish) -> Call | None:
    match wish:
        case Wish(Ability.READ, {"path": path}):
            return tools.read(path)
        case Wish(Ability.WRITE, {"path": path, "content": content}):
            return tools.write(path, content)
        case Wish(Ability.FIND, {"pattern": pattern, **more}):
            deep = "/" in pattern and set(pattern) & set("*?[")
            folder = more.get("folder") or None
            return tools.find(pattern, folder) if deep or folder else tools.exists(pattern)
        case Wish(Ability.LIST, {**more}):
            return tools.listing(more.get("folder") or None)
        case Wish(Ability.SEARCH, {"pattern": pattern, **more}):
            return tools.search(pattern, more.get("folder") or None, more.get("include") or None)
        case _:
            return None
