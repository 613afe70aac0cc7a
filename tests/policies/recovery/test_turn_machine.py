"""A turn against an adversary: whatever comes back, and in whatever order, every way round has an end.

The machine plays the loop of `agent.py` without its I/O. Beside it runs a naive model that only counts what it
sees; no number of it comes from `TurnState`.
"""

from collections import Counter
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from harness.events import CutCall, Fault, FaultKind, Outcome, Reply, ToolCall, TransitionCode, Usage
from harness.policies.recovery import (
    Compact,
    Continue,
    Decision,
    Drain,
    Nudge,
    OfferWait,
    RecoveryLimits,
    Remedy,
    Repair,
    Resend,
    RunTools,
    Situation,
    Stop,
    SwitchModel,
    TurnState,
    after_tools,
    before_request,
    decide,
)
from harness.policies.recovery.compaction import CompactionHealth, thresholds
from harness.policies.recovery.cut_replies import cap_for
from harness.policies.recovery.prompt_too_long import CUTS
from harness.policies.recovery.transitions import TRANSITIONS, TransitionKind
from tests.policies.recovery.cases import fault, overloaded_before, text, use
from tests.whole import WHOLE

FALLBACKS = ("second", "third", "fourth")
WINDOWS = {
    "primary": (200_000, 64_000),
    "second": (200_000, 8_000),
    "third": (100_000, 32_000),
    "fourth": (1_000_000, 128_000),
}
"""Window and maximum output of each model."""
THINKS = {"third", "fourth"}
TAKES_EFFORT = {"primary", "fourth"}

small_limits = st.builds(
    RecoveryLimits,
    retries_per_request=st.integers(0, 4),
    retries_per_turn=st.integers(0, 8),
    waiting_per_turn_s=st.sampled_from([0.0, 5.0, 60.0, 300.0]),
    max_wait_s=st.sampled_from([0.0, 100.0]),
    interactive=st.booleans(),
    overloads_before_switch=st.integers(1, 3),
    user_cap=st.sampled_from([None, None, 2_000, 100_000]),
    continuations=st.integers(0, 3),
    malformed_calls=st.integers(1, 3),
    pauses=st.integers(0, 2),
    compaction=st.sampled_from([True, True, True, False]),
    token_budget=st.sampled_from([None, None, 1_000, 4_000]),
    max_steps=st.integers(1, 6),
    max_cost_usd=st.sampled_from([None, None, 20.0]),
)
PAUSE_S = 60
"""After which a model that was overloaded may be tried again."""
sizes = st.sampled_from([1_000, 50_000, 120_000, 166_999, 167_000, 178_000, 193_000, 260_000])
outputs = st.sampled_from([0, 1, 499, 500, 3_000])
sometimes = st.sampled_from([None, None, True, False])


class Turn(RuleBasedStateMachine):
    """One turn, request by request."""

    @initialize(
        limits=small_limits,
        fallbacks=st.integers(0, 3),
        size=sizes,
        overloaded=st.sets(st.sampled_from(["primary", *FALLBACKS])),
        results=st.sampled_from([0, 2, 4]),
    )
    def begin(self, limits: RecoveryLimits, fallbacks: int, size: int, overloaded: set[str], results: int) -> None:
        """`overloaded`: models overloaded by an earlier turn; `results`: quarters of `size` that can be drained."""
        self.limits = limits
        self.fallbacks = FALLBACKS[:fallbacks]
        self.now = 0.0
        self.state = TurnState("primary", self.fallbacks, overloaded_before(overloaded, limits))
        self.health = CompactionHealth()
        self.stop: Stop | None = None
        self.step = 1
        self.history = 0
        self.size = size
        self.results = size * results // 4
        self.serial = 0
        # the naive model
        self.requests = 0
        self.seen: Counter[str] = Counter()
        self.raised: Counter[str] = Counter()
        self.since_reply: Counter[str] = Counter()
        self.since_progress: Counter[str] = Counter()
        self.in_a_row: Counter[str] = Counter()
        self.not_answered = set(overloaded)
        """Models that were overloaded in an earlier turn and have not answered since."""
        self.overloaded_at: float | None = None
        """When the row was first long enough for a switch, since the model was turned to or answered."""
        self.slept_s = 0.0
        self.models = ["primary"]
        self.cut_at: dict[tuple[str, int], int] = {}
        self.ran: set[str] = set()
        self.check_room()

    # ── what the loop does ──────────────────────────────────────────────────────────────────────

    @property
    def situation(self) -> Situation:
        window, max_output = WINDOWS[self.state.model]
        return Situation(
            chance=0.5,
            now=self.now,
            window=window,
            max_output=max_output,
            prompt_tokens=self.size,
            thinks=self.state.model in THINKS,
            takes_effort=self.state.model in TAKES_EFFORT,
            drainable_tokens=self.results,
            cost_usd=float(self.requests),
            largest="the largest message is number 1 of 1",
        )

    @property
    def well_below(self) -> int:
        return int(0.8 * thresholds(*WINDOWS[self.state.model]).compact)

    def check_room(self) -> None:
        decision = before_request(self.state, self.health, self.step, self.limits, self.situation)
        if self.limits.max_cost_usd is not None and self.requests >= self.limits.max_cost_usd:
            assert isinstance(decision, Stop), "a spent budget buys no further step"
        match decision:
            case Stop():
                self.end(decision)
            case Compact():
                assert self.limits.compaction
                assert decision.code is None
                assert self.results < self.size - self.well_below, "the milder layer would have done"
                self.health = self.health.compacting(self.step)
                self.seen["compacted before a request"] += 1
                before, self.size = self.size, self.size * 3 // 4
                self.health = self.health.ended(before, self.size)
                self.results = min(self.results, self.size // 2)
                self.history += 1
            case Drain():
                assert self.limits.compaction
                assert decision.code is None
                assert decision.tokens <= self.results
                self.results -= decision.tokens
                self.size -= decision.tokens
                self.history += 1
                assert self.size == self.well_below, "no room is left for the next steps"
            case None:
                pass
            case _:
                raise AssertionError(f"not expected before a request: {decision}")

    def answer(self, outcome: Outcome, grown: int = 0) -> None:
        """The model answers a request; the loop carries out each decision."""
        cap = cap_for(self.state, self.limits, self.situation)
        key = (self.state.model, self.history)
        assert cap > self.cut_at.get(key, 0), "the same cap again for a history whose reply was cut at it"
        self.requests += 1
        self.observe(outcome)
        if isinstance(outcome, Reply) and outcome.stop_reason == "max_tokens":
            self.cut_at[key] = cap
        asked = self.state
        decision = decide(asked, outcome, self.limits, self.situation)
        self.state = decision.state
        assert asked.model == self.models[-1]
        self.check_code(decision)
        match decision:
            case Stop():
                self.end(decision)
            case Resend():
                self.resend(decision, outcome)
            case OfferWait():
                assert self.limits.interactive
                assert decision.wait.seconds > self.limits.long_wait_s
                self.count_retry()
            case SwitchModel():
                self.switch(decision)
            case Repair():
                self.mend(decision, outcome, cap)
            case Continue():
                self.go_on(decision)
            case RunTools():
                self.run_tools(decision, outcome)
            case Drain():
                self.shorten("drained", decision.tokens)
            case Compact():
                assert self.limits.compaction
                self.since_progress["cut" if decision.only_cut else "compacted"] += 1
                self.since_reply["retries"] = 0
                self.shorten("compacted", self.size // 2)
        if decision.code is not None and self.stop is None:
            self.history += decision.code is not TransitionCode.MAX_OUTPUT_TOKENS_ESCALATE
            grown = grown if isinstance(decision, RunTools | Continue) else 0
            self.size, self.results = self.size + grown, self.results + grown // 2
            self.step += 1
            self.check_room()

    def observe(self, outcome: Outcome) -> None:
        overloaded = isinstance(outcome, Fault) and outcome.kind is FaultKind.OVERLOADED
        self.in_a_row["overloads"] = self.in_a_row["overloads"] + 1 if overloaded else 0
        self.enough_overloads = 1 if self.on_trial else self.limits.overloads_before_switch
        if self.overloaded_at is None and self.in_a_row["overloads"] >= self.limits.overloads_before_switch:
            self.overloaded_at = self.now
        if isinstance(outcome, Reply):
            self.not_answered -= {self.state.model}
            self.overloaded_at = None
            self.since_reply.clear()

    @property
    def on_trial(self) -> bool:
        """The next overload is one too many: the model is tried again after it was overloaded."""
        if self.state.model in self.not_answered:
            return True
        return self.overloaded_at is not None and self.now >= self.overloaded_at + PAUSE_S

    def turned_to(self, model: str) -> None:
        self.models.append(model)
        self.in_a_row["overloads"] = 0
        self.overloaded_at = None

    def check_code(self, decision: Decision) -> None:
        same_request = isinstance(decision, OfferWait | Repair) or (
            (isinstance(decision, Resend) and decision.wait is not None)
            or (
                isinstance(decision, SwitchModel)
                and self.in_a_row["overloads"] > 0
                and decision.code is not TransitionCode.REFUSAL_FALLBACK  # a reply came in between, which is a step
            )
        )
        assert (decision.code is None) is same_request, "a step has exactly one code, a retry has none"
        if decision.code is not None:
            row = TRANSITIONS[decision.code]
            assert row.kind is (TransitionKind.END if isinstance(decision, Stop) else TransitionKind.CONTINUE)
        assert decision.reason
        assert "\n" not in decision.reason

    def resend(self, decision: Resend, outcome: Outcome) -> None:
        if decision.wait is None:
            assert isinstance(outcome, Reply)
            if decision.code is TransitionCode.MAX_OUTPUT_TOKENS_EFFORT:
                assert not outcome.text.strip()
                assert self.state.model in TAKES_EFFORT
                self.seen["effort lowered"] += 1
            else:
                assert decision.code is TransitionCode.MAX_OUTPUT_TOKENS_ESCALATE
                assert self.limits.user_cap is None
                self.raised[self.state.model] += 1
        else:
            self.count_retry()
            self.count_wait(decision.wait.seconds)

    def count_retry(self) -> None:
        assert not self.state.fallbacks or self.in_a_row["overloads"] < self.enough_overloads
        self.seen["retries"] += 1
        self.since_reply["retries"] += 1

    def count_wait(self, seconds: float) -> None:
        if seconds > self.limits.long_wait_s:
            assert not self.limits.interactive, "a long wait is never slept without asking"
            assert seconds <= self.limits.max_wait_s
        else:
            self.slept_s += seconds

    def switch(self, decision: SwitchModel) -> None:
        if decision.code is None:
            assert self.in_a_row["overloads"] >= self.enough_overloads
        else:
            assert decision.code is TransitionCode.REFUSAL_FALLBACK
            self.seen["asked another after a refusal"] += 1
        assert decision.to_model == decision.state.model
        self.turned_to(decision.to_model)

    def mend(self, decision: Repair, outcome: Outcome, cap: int) -> None:
        if decision.remedy is Remedy.LOWER_CAP:
            assert isinstance(outcome, Fault)
            assert cap_for(self.state, self.limits, self.situation) < cap
            self.since_reply["lowered"] += 1
            self.seen["lowered"] += 1
        else:
            self.seen[decision.remedy] += 1
            self.history += decision.remedy is not Remedy.RELOAD_KEY

    def go_on(self, decision: Continue) -> None:
        assert not any(block["type"] == "tool_use" for block in decision.keep)
        assert decision.keep or decision.nudge is not Nudge.CUT_AT_CAP, "a reply that left nothing is not continued"
        match decision.nudge:
            case Nudge.CUT_AT_CAP | Nudge.BROKEN_STREAM:
                self.in_a_row["continuations"] += 1
            case Nudge.NO_CALL:
                self.in_a_row["continuations"] = 0
            case Nudge.EMPTY_REPLY | Nudge.PAUSED:
                self.seen[decision.nudge] += 1
                self.in_a_row["continuations"] = 0
            case Nudge.TOKEN_BUDGET:
                self.seen["nudged"] += 1
                self.in_a_row["continuations"] = 0
                self.since_progress.clear()
        if decision.wait is not None:
            self.count_retry()
            self.count_wait(decision.wait.seconds)

    def run_tools(self, decision: RunTools, outcome: Outcome) -> None:
        assert decision.calls == outcome.calls
        assert decision.cut_calls == (outcome.cut_calls if isinstance(outcome, Reply) else ())
        in_history = [block["id"] for block in decision.keep if block["type"] == "tool_use"]
        assert in_history == [call.id for call in decision.calls]
        assert not self.ran & set(in_history), "no call runs twice"
        self.ran |= set(in_history)
        cut = decision.code is TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY
        self.in_a_row["continuations"] = self.in_a_row["continuations"] + 1 if cut else 0
        self.in_a_row["malformed"] = 0 if decision.calls else self.in_a_row["malformed"] + (not cut)
        self.since_progress.clear()
        self.since_reply.clear()
        self.seen["tool rounds"] += 1
        self.state = replace(self.state, steps=self.state.steps + 1, compacted=False)
        if stop := after_tools(self.state, self.limits, interrupted=False):
            assert self.seen["tool rounds"] == self.limits.max_steps
            self.end(stop)

    def shorten(self, how: str, tokens: int) -> None:
        assert tokens > 0
        self.seen[how] += 1
        self.since_reply[how] += 1
        self.size = max(1_000, self.size - tokens)
        self.results = max(0, min(self.results - tokens, self.size))

    def end(self, stop: Stop) -> None:
        assert TRANSITIONS[stop.code].kind is TransitionKind.END
        assert not any(block["type"] == "tool_use" for block in stop.keep)
        self.stop = stop

    # ── what the adversary can do ───────────────────────────────────────────────────────────────

    def call(self) -> ToolCall:
        self.serial += 1
        return ToolCall(f"t{self.serial}", "bash", {})

    @precondition(lambda self: self.stop is None)
    @rule(words=st.sampled_from(["", "words"]), stop_reason=st.sampled_from(["end_turn", "odd"]), output=outputs)
    def an_answer(self, words: str, stop_reason: str, output: int) -> None:
        content = (text(words),) if words else ()
        self.answer(Reply("m", stop_reason, content, usage=Usage(0, output)))

    @precondition(lambda self: self.stop is None)
    @rule(
        whole=st.integers(0, 2),
        cut=st.booleans(),
        stop_reason=st.sampled_from(["tool_use", "tool_use", "max_tokens", "end_turn"]),
        output=outputs,
        grown=st.sampled_from([0, 10_000, 100_000]),
    )
    def calls(self, whole: int, cut: bool, stop_reason: str, output: int, grown: int) -> None:
        calls = tuple(self.call() for _ in range(whole))
        cut_calls = (CutCall("c", "bash", "it was cut"),) if cut or not calls else ()
        self.answer(Reply("m", stop_reason, tuple(map(use, calls)), calls, cut_calls, Usage(0, output)), grown)

    @precondition(lambda self: self.stop is None)
    @rule(words=st.sampled_from(["", "half a sen"]), output=outputs)
    def a_cut_answer(self, words: str, output: int) -> None:
        content = (text(words),) if words else ()
        self.answer(Reply("m", "max_tokens", content, usage=Usage(0, output)))

    @precondition(lambda self: self.stop is None)
    @rule(output=outputs)
    def a_pause(self, output: int) -> None:
        self.answer(Reply("m", "pause_turn", (text("searching"),), usage=Usage(0, output)))

    @precondition(lambda self: self.stop is None)
    @rule(
        kind=st.sampled_from(sorted(set(FaultKind) - {FaultKind.CANCELLED})),
        should_retry=sometimes,
        after=st.sampled_from([None, None, 0.0, 20.0, 61.0, 90.0]),
        status=st.sampled_from([None, 400, 418, 500, 501, 529]),
    )
    def a_fault(self, kind: FaultKind, should_retry: bool | None, after: float | None, status: int | None) -> None:
        self.answer(fault(kind, should_retry=should_retry, retry_after_s=after, status=status))

    @precondition(lambda self: self.stop is None)
    @rule()
    def an_overload(self) -> None:
        self.answer(fault(FaultKind.OVERLOADED, status=529))

    @precondition(lambda self: self.stop is None)
    @rule(
        kind=st.sampled_from([FaultKind.OVERLOADED, FaultKind.NETWORK, FaultKind.UNKNOWN, FaultKind.TIMEOUT]),
        calls=st.integers(0, 2),
        stop_reason=st.sampled_from([None, None, None, "tool_use", "end_turn", "refusal"]),
    )
    def a_stream_that_breaks(self, kind: FaultKind, calls: int, stop_reason: str | None) -> None:
        whole = tuple(self.call() for _ in range(calls))
        kept = (text("a whole block"), *map(use, whole))
        self.answer(fault(kind, streamed=True, kept=kept, calls=whole, stop_reason=stop_reason))

    @precondition(lambda self: self.stop is None)
    @rule(excess=st.sampled_from([None, 1, 5_000, 500_000]))
    def too_long(self, excess: int | None) -> None:
        window = WINDOWS[self.state.model][0]
        named = {"input_tokens": window + excess, "limit": window} if excess else {}
        self.answer(fault(FaultKind.PROMPT_TOO_LONG, status=400, **named))

    @precondition(lambda self: self.stop is None)
    @rule(leaves=st.sampled_from([None, -5_000, 1_000, 2_000, 6_000, 9_000, 30_000]), below=st.integers(1, 2))
    def a_cap_that_is_refused(self, leaves: int | None, below: int) -> None:
        cap, window = cap_for(self.state, self.limits, self.situation), WINDOWS[self.state.model][0]
        named = {"limit": cap - below} if leaves is None else {"input_tokens": window - leaves, "limit": window}
        self.answer(fault(FaultKind.MAX_TOKENS_OVERFLOW, status=400, **named))

    @precondition(lambda self: self.stop is None and self.limits.interactive and self.state.fallbacks)
    @rule()
    def the_user_takes_another_model(self) -> None:
        self.state = self.state.on_next_model(self.now, self.limits)
        self.turned_to(self.state.model)

    @precondition(lambda self: self.stop is None)
    @rule(seconds=st.sampled_from([1.0, 59.0, 61.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @precondition(lambda self: self.stop is None and self.requests > 8)
    @rule(kept=st.booleans())
    def the_user_interrupts(self, kept: bool) -> None:
        self.answer(fault(FaultKind.CANCELLED, kept=(text("so far"),) if kept else ()))
        assert self.stop is not None
        assert self.stop.code is TransitionCode.ABORTED_STREAMING

    @precondition(lambda self: self.stop is not None)
    @rule()
    def nothing_more_happens(self) -> None:
        """The turn has ended."""

    # ── what always holds ───────────────────────────────────────────────────────────────────────

    @invariant()
    def retries_stay_within_their_limits(self) -> None:
        assert self.since_reply["retries"] <= self.limits.retries_per_request
        assert self.seen["retries"] <= self.limits.retries_per_turn

    @invariant()
    def waiting_stays_within_its_budget(self) -> None:
        assert self.slept_s <= self.limits.waiting_per_turn_s

    @invariant()
    def every_remedy_is_used_once(self) -> None:
        assert all(times <= 2 for times in self.raised.values())
        once = [
            "effort lowered",
            "asked another after a refusal",
            Nudge.EMPTY_REPLY,
            *(set(Remedy) - {Remedy.LOWER_CAP}),
        ]
        assert all(self.seen[remedy] <= 1 for remedy in once)
        assert self.since_reply["lowered"] <= 2
        assert self.since_reply["drained"] <= 1
        assert self.since_progress["compacted"] <= 1
        assert self.since_progress["cut"] <= CUTS
        assert self.seen[Nudge.PAUSED] <= self.limits.pauses

    @invariant()
    def rows_of_the_same_thing_end(self) -> None:
        assert self.in_a_row["continuations"] <= self.limits.continuations
        assert self.in_a_row["malformed"] < self.limits.malformed_calls

    @invariant()
    def models_are_asked_in_order_and_each_once(self) -> None:
        assert self.models == ["primary", *self.fallbacks[: len(self.models) - 1]]

    @invariant()
    def the_number_of_requests_is_bounded_by_the_limits(self) -> None:
        assert self.requests <= self.most_requests()

    def most_requests(self) -> int:
        """Each kind of way round at its limit, and one request to begin with."""
        limits = self.limits
        nudges = 3 + 2 * (limits.token_budget or 0) // limits.diminishing_tokens
        rounds = limits.max_steps or 0
        whole_replies = rounds + nudges + limits.pauses + 1
        replies = whole_replies * (1 + limits.continuations) + 1
        shortened = rounds + nudges + 1 + replies
        replies += 2 * (1 + len(self.fallbacks)) + 1
        return 1 + limits.retries_per_turn + len(self.fallbacks) + 4 + replies + 2 * (replies + shortened) + shortened


TestTurn = Turn.TestCase
TestTurn.settings = settings(max_examples=200 if WHOLE else 80, stateful_step_count=60, deadline=None)
