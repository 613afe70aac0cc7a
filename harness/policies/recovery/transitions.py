"""The transition codes and the remedies for faults, as tables (docs/design/recovery.md#transition-codes).

The tables are data: tests enumerate them, `harness transitions` prints them and docs/transitions.md is generated from
them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from harness.events import FaultKind
from harness.events import TransitionCode as Code


class TransitionKind(StrEnum):
    """What a transition does to the turn."""

    CONTINUE = "continue"
    END = "end"


@dataclass(frozen=True, slots=True)
class TransitionRow:
    """One code."""

    code: Code
    kind: TransitionKind
    trigger: str
    effect: str
    guard: str
    exit_code: int | None = None
    """Exit code of the headless command when the turn ends with this code; None for codes that continue."""


def _continues(code: Code, trigger: str, effect: str, guard: str) -> TransitionRow:
    return TransitionRow(code, TransitionKind.CONTINUE, trigger, effect, guard)


def _ends(code: Code, exit_code: int, trigger: str, effect: str, guard: str) -> TransitionRow:
    return TransitionRow(code, TransitionKind.END, trigger, effect, guard, exit_code)


_ROWS = (
    _continues(
        Code.NEXT_TURN,
        "the reply asks for tools, a broken stream left complete tool calls, the server paused its own tools, or "
        "the user added a text during the answer",
        "every call is answered once; counters of the request are reset",
        "max_turns, budget_exhausted",
    ),
    _continues(
        Code.MAX_OUTPUT_TOKENS_ESCALATE,
        "a reply was cut, a larger cap is available, and the user set none; the first cap is 8,000, for a thinking "
        "model its maximum",
        "the cut reply is dropped; the same request asks for up to 64,000, or for the maximum where nothing could be "
        "kept; this holds for the session",
        "never the same cap twice",
    ),
    _continues(
        Code.MAX_OUTPUT_TOKENS_EFFORT,
        "a reply was cut at the largest cap before any text or tool call, and the model takes a lower effort",
        "the same request goes out with low effort, which holds for the turn",
        "once in a turn",
    ),
    _continues(
        Code.MAX_OUTPUT_TOKENS_RECOVERY,
        "a reply was cut at the largest cap and left text or calls, broke off after complete text, repeated itself, "
        "was empty, or announced a tool call that it did not hold",
        "complete blocks are kept; a hidden message asks to continue from there",
        "3 continuations in a row; an empty reply is asked again once in a turn, one without its call once in a row",
    ),
    _continues(
        Code.REFUSAL_FALLBACK,
        "the model declined to answer, and a fallback model is left",
        "the next fallback is asked the same, and answers for the rest of the turn; nothing of the refusal is kept",
        "once in a turn",
    ),
    _continues(
        Code.COLLAPSE_DRAIN_RETRY,
        "the prompt is too long and shortening old tool results would save enough",
        "old results are replaced by a pointer to their file; the request goes out again",
        "once for each overflow; the next one compacts",
    ),
    _continues(
        Code.REACTIVE_COMPACT_RETRY,
        "the prompt is too long and nothing is left to drain",
        "a summary by the model, or a cut that needs no model, replaces the history",
        "once, until a tool round makes progress; then cuts by half, 4 at most, as long as they shorten",
    ),
    _continues(
        Code.TOKEN_BUDGET_CONTINUATION,
        "the answer ended with less than 90 % of a token budget used",
        "the answer is kept; a hidden message asks to continue the work",
        "stops when 3 nudges or more were given and the last two brought under 500 tokens each",
    ),
    _continues(
        Code.STOP_HOOK_BLOCKING,
        "a stop hook objects to the end of the turn",
        "its objection joins the history",
        "8 objections in a turn",
    ),
    _ends(Code.COMPLETED, 0, "a whole reply without tool calls", "the answer is kept", "-"),
    _ends(
        Code.API_ERROR,
        1,
        "a fault that no retry can cure, or the retries are used up",
        "the fault is shown once with advice; kept text stays",
        "10 retries a request, 30 a turn, 300 s of waiting; 2 after answers that are not of the Messages API, "
        "and where no server is found at an address that has not answered yet",
    ),
    _ends(
        Code.MODEL_ERROR,
        1,
        "the model declined to answer and so did a fallback, or there is none; or the program failed during the call",
        "open tool calls are answered; nothing of the refused reply is kept",
        "-",
    ),
    _ends(
        Code.PROMPT_TOO_LONG,
        1,
        "too long again and nothing is left to shorten, compaction is off, or system prompt and tools alone do not fit",
        "the session stays usable: /compact and /clear work",
        "-",
    ),
    _ends(
        Code.IMAGE_ERROR,
        1,
        "an image or document was rejected and leaving it out did not help",
        "the fault is shown",
        "-",
    ),
    _ends(
        Code.MALFORMED_TOOL_USE,
        1,
        "three replies in a row asked for tools in a form that cannot be run",
        "nothing was run; the calls are answered with errors",
        "-",
    ),
    _ends(
        Code.EMPTY_ANSWER,
        1,
        "a reply without text and tool calls, also when the model was asked again",
        "there is no answer, and that is no success",
        "-",
    ),
    _ends(
        Code.ABORTED_STREAMING,
        130,
        "the user interrupted while the model was answering or a retry was waiting",
        "text that had arrived is kept",
        "-",
    ),
    _ends(
        Code.ABORTED_TOOLS,
        130,
        "the user interrupted while tools were running",
        "unfinished calls are answered as interrupted; their processes are ended",
        "-",
    ),
    _ends(Code.MAX_TURNS, 3, "the next model call would pass --max-steps", "results so far are kept", "-"),
    _ends(
        Code.BUDGET_EXHAUSTED,
        3,
        "the money budget is spent, or an answer stays cut after 3 continuations",
        "no further request; all kept text stays",
        "-",
    ),
    _ends(
        Code.BLOCKING_LIMIT,
        3,
        "the prompt is within 3,000 tokens of the window and compaction is off",
        "no request is sent",
        "-",
    ),
    _ends(
        Code.COMPACTION_THRASH,
        3,
        "three compactions on their own were each followed by an overflow within three steps",
        "no request is sent; the largest message is named",
        "-",
    ),
    _ends(
        Code.MAX_OUTPUT_TOKENS_EXHAUSTED,
        3,
        "a reply was cut before any text or tool call, with the largest cap and the lowest effort there is",
        "nothing is continued, because the reply left nothing; earlier text stays",
        "-",
    ),
    _ends(
        Code.FAILURE_BUDGET_PAUSED,
        3,
        "tools failed as often as the failure budget allows, or no remaining work is possible without open ones",
        "a report of work done, work left and the state of the tools; continuing begins a fresh budget",
        "5 failures in a turn, those of one cause counted once",
    ),
    _ends(
        Code.LOOP_STOPPED,
        3,
        "the agent is in a loop that no intervention ended, or its replies repeat themselves",
        "a report of the repetition and the interventions; the session stays usable",
        "the quotas of the ladder; a new prompt begins again",
    ),
    _ends(
        Code.WAIT_LIMIT,
        3,
        "the agent polled, and the answer stayed the same for too long",
        "the answer so far is kept; the session stays usable",
        "an hour (wait_total_s), after advice and growing pauses",
    ),
    _ends(
        Code.STOP_HOOK_PREVENTED,
        3,
        "a stop hook ends the turn, or objects to its end for the ninth time",
        "the answer is kept",
        "-",
    ),
    _ends(
        Code.HOOK_STOPPED,
        3,
        "a hook ends the turn at a tool call, or refuses the prompt",
        "the remaining calls are answered without being run; a refused prompt never joins the history",
        "-",
    ),
)

TRANSITIONS: Mapping[Code, TransitionRow] = MappingProxyType({row.code: row for row in _ROWS})


def exit_code(code: Code) -> int:
    """Exit code of the headless command for a turn that ended with `code`.

    Raises ValueError for a code that does not end a turn.
    """
    row = TRANSITIONS[code]
    if row.exit_code is None:
        raise ValueError(f"{code} does not end a turn")
    return row.exit_code


class Remedy(StrEnum):
    """What to do about a fault or a poor reply. `fault_decisions` says what follows when it is exhausted."""

    RETRY = "wait, then send the same request again"
    RETRY_THEN_SWITCH = "retry; after three in a row ask the next fallback model"
    RETRY_FRESH = "retry on a new connection"
    RETRY_ONCE = "send the same request once more"
    RETRY_TWICE = "send the same request again, twice at most"
    SWITCH_ONCE = "ask the next fallback model, once"
    COMPACT = "shorten the history, then send again"
    LOWER_CAP = "ask for fewer output tokens, once"
    STRIP_MEDIA = "replace images and documents by text, once"
    STRIP_THINKING = "leave out thinking blocks, then ask for no thinking in this turn"
    OMIT_THINKING = "ask for no thinking in this turn"
    DROP_CACHE_MARKS = "leave out the cache marks, here and in all later requests to the server"
    DROP_REPLY_SETTINGS = "omit thinking and effort for this model, for the rest of the session"
    DROP_SERVER_TOOLS = "leave out web search and fetch, here and in all later requests to the model"
    DROP_FORMAT = "leave out the output format, here and in all later requests to the model"
    BRIDGE_RESULTS = "send an answer between tool results and text, in all later requests too"
    DROP_DIAGNOSTICS = "do not ask why the cache missed, here and in all later requests to the server"
    REPAIR = "repair the history, once"
    RELOAD_KEY = "read the key again; send again only if it changed"
    CUT_SHORT = "keep the text before, and ask to continue without repeating it"
    ASK_AGAIN = "ask again after an empty reply, once"
    LOWER_EFFORT = "use the lowest effort in this turn"
    STOP = "end the turn and say what to do"


REMEDIES: Mapping[FaultKind, Remedy] = MappingProxyType(
    {
        FaultKind.OVERLOADED: Remedy.RETRY_THEN_SWITCH,
        FaultKind.RATE_LIMIT: Remedy.RETRY,
        FaultKind.QUOTA_EXHAUSTED: Remedy.STOP,
        FaultKind.SERVER: Remedy.RETRY,
        FaultKind.TIMEOUT: Remedy.RETRY_FRESH,
        FaultKind.NETWORK: Remedy.RETRY_FRESH,
        FaultKind.STALE_SOCKET: Remedy.RETRY_FRESH,
        FaultKind.TLS: Remedy.STOP,
        FaultKind.AUTH: Remedy.RELOAD_KEY,
        FaultKind.BILLING: Remedy.STOP,
        FaultKind.PROMPT_TOO_LONG: Remedy.COMPACT,
        FaultKind.MAX_TOKENS_OVERFLOW: Remedy.LOWER_CAP,
        FaultKind.REQUEST_TOO_LARGE: Remedy.COMPACT,
        FaultKind.MEDIA: Remedy.STRIP_MEDIA,
        FaultKind.SIGNATURE: Remedy.STRIP_THINKING,
        FaultKind.HISTORY_INVALID: Remedy.REPAIR,
        FaultKind.MODEL_NOT_FOUND: Remedy.STOP,
        FaultKind.WRONG_ADDRESS: Remedy.STOP,
        FaultKind.CACHE_MARKS: Remedy.DROP_CACHE_MARKS,
        FaultKind.REPLY_SETTINGS: Remedy.DROP_REPLY_SETTINGS,
        FaultKind.SERVER_TOOLS: Remedy.DROP_SERVER_TOOLS,
        FaultKind.ANSWER_FORMAT: Remedy.DROP_FORMAT,
        FaultKind.TEXT_AFTER_RESULTS: Remedy.BRIDGE_RESULTS,
        FaultKind.CACHE_DIAGNOSTICS: Remedy.DROP_DIAGNOSTICS,
        FaultKind.REFUSAL: Remedy.SWITCH_ONCE,
        FaultKind.MALFORMED_RESPONSE: Remedy.RETRY_TWICE,
        FaultKind.REPETITION: Remedy.CUT_SHORT,
        FaultKind.CANCELLED: Remedy.STOP,
        FaultKind.UNKNOWN: Remedy.RETRY_ONCE,
    }
)
"""The first remedy for each kind of fault."""

RETRIED = frozenset({Remedy.RETRY, Remedy.RETRY_THEN_SWITCH, Remedy.RETRY_FRESH, Remedy.RETRY_ONCE, Remedy.RETRY_TWICE})
"""Remedies that x-should-retry: false turns into STOP."""
