"""The fault table: the faults and the expected outcome, for the final exam and for the benchmark.

Each row is a script for the practice server. Unless a row says otherwise, one good tool round comes first,
then the fault, then the answer; the ideal number of requests counts all of them.
"""

from dataclasses import dataclass
from enum import Enum, auto

from chapters.course.exam.mechanisms import Mechanism

ANSWER = "The workspace holds one note, and the note says forty-two. Nothing else needs to be done."
GOOD_ROUND = """
[[reply]]
text = "Let me look."
tools = [{ name = "bash", input = { command = "echo ran >> rounds.txt" } }]
"""
FINAL = f'\n[[reply]]\ntext = "{ANSWER}"\n'
SUMMARY = """
[[reply]]
when = { purpose = "summary" }
times = "forever"
text = "Requests: say what the note holds. Done: looked once. Next: answer."
"""
TOO_LONG = """
status = 400
type = "invalid_request_error"
message = "prompt is too long: 208310 tokens > 200000 maximum"
"""
PIECES = (
    "First, the note was found in the folder and opened without trouble. ",
    "Second, it was read from the first line to the last, which took no time at all. ",
    "Third, its only number was written down and compared with the one before. ",
    "Fourth, the comparison was repeated so that no doubt remains about it. ",
)


class RowKind(Enum):
    """The expectation of a program in a row."""

    START = auto()
    """No fault: a program that fails here cannot take the exam."""
    RECOVERABLE = auto()
    """The answer, once, and exit code 0."""
    HOPELESS = auto()
    """An exit code other than 0 and a line that says why."""
    STEADY = auto()
    """No fault: long work that must not be stopped."""
    SERVER = auto()
    """The answer, once, and exit code 0, although the tool of an MCP server fails. Only a program with a client of MCP
    can do it."""
    TEAM = auto()
    """The same, although a member of the program's team fails. Only a program with members can do it."""
    WORKTREE = auto()
    """The answer, and nothing lost of what a worktree holds. Only a program with the option --worktree can do it."""


@dataclass(frozen=True, slots=True)
class FaultRow:
    """One fault and the bar it is measured by (facts: what the best peers do)."""

    name: str
    script: str
    requests: tuple[int, int]
    """Fewest and most requests allowed."""
    answer: str | None = ANSWER
    """What stdout must hold, exactly once and with nothing else; None: nothing is expected there."""
    exit_code: int = 0
    seconds: tuple[float, float] | None = None
    """Least and most seconds between the first and the last request; None: not part of the bar."""
    arguments: tuple[str, ...] = ()
    rounds: int = 1
    """How often the good tool round's command must have run, all in all."""
    stderr: str = ""
    """Must be part of stderr."""
    quiet: bool = False
    """stderr must be empty: nothing stepped in."""
    slow: bool = False
    """Takes more than 10 seconds with the default limits."""
    server: str | None = None
    """The folder has an `.mcp.json` with the server of `harness practice mcp`, which has this fault; empty: it has
    none. None: there is no such file."""
    kept: str = ""
    """A shell command that succeeds afterwards in the folder. With it the folder is a repository of git, and the
    program gets `--worktree=exam` behind the prompt."""
    kind: RowKind = RowKind.RECOVERABLE
    mechanism: Mechanism = Mechanism.RETRY
    """What a program lacks that fails in this row."""

    @property
    def is_silent(self) -> bool:
        """The server falls silent: a program needs about a minute to be sure."""
        return self.mechanism is Mechanism.SILENCE


def _fault(name: str, entry: str, requests: tuple[int, int] = (3, 3), **more: object) -> FaultRow:
    return FaultRow(name, f"{GOOD_ROUND}\n[[reply]]\n{entry}\n{FINAL}{SUMMARY}", requests, **more)  # type: ignore[arg-type]


def _cut(text: str) -> str:
    return f'\n[[reply]]\ntext = "{text}"\nstop_reason = "max_tokens"\n'


def _bash(command: str) -> str:
    return f'tools = [{{ name = "bash", input = {{ command = "{command}" }} }}]\n'


def _stuck(name: str, command: str) -> FaultRow:
    """Told once that it repeats itself, then stopped by the eighth request, with a report."""
    script = f'{GOOD_ROUND}\n[[reply]]\n{_bash(command)}times = "forever"\n'
    told = "nudge     the model was notified that it repeats itself"
    return FaultRow(
        *(name, script, (6, 8)),
        answer=None,
        exit_code=3,
        stderr=told,
        kind=RowKind.HOPELESS,
        mechanism=Mechanism.LOOP,
    )


def _fifty(name: str, command: str) -> FaultRow:
    """Work that looks like a loop and is none: every call brings something new."""
    commands = (f"echo ran >> rounds.txt; {command.format(number=number)}" for number in range(1, 51))
    script = "".join(f"\n[[reply]]\n{_bash(each)}" for each in commands) + FINAL
    return FaultRow(
        *(name, script, (51, 51)), rounds=50, quiet=True, kind=RowKind.STEADY, mechanism=Mechanism.LONG_WORK
    )


_BROKEN = f'text = "{ANSWER}"\nchunk = 20\n'
_CALL = _bash("echo ran >> rounds.txt")
_FULL_CALL = f"\n[[reply]]\n{_CALL}"

ROWS: tuple[FaultRow, ...] = (
    FaultRow(
        "one tool call, then the answer", GOOD_ROUND + FINAL, (2, 2), kind=RowKind.START, mechanism=Mechanism.AGENT_LOOP
    ),
    _fault(
        "429, retry-after 1",
        'status = 429\nheaders = { retry-after = "1" }',
        seconds=(1.0, 2.5),
        stderr="429",
        mechanism=Mechanism.RETRY_AFTER,
    ),
    _fault(
        "429, retry-after 8",
        'status = 429\nheaders = { retry-after = "8" }',
        seconds=(8.0, 9.5),
        stderr="429",
        slow=True,
        mechanism=Mechanism.RETRY_AFTER,
    ),
    _fault("429 without header", "status = 429", seconds=(0.5, 1.2)),
    _fault("529 twice", "status = 529\ntimes = 2", (4, 4), seconds=(1.5, 2.6)),
    _fault("529 five times, no fallback set", "status = 529\ntimes = 5", (7, 7), seconds=(15.5, 20.5), slow=True),
    FaultRow(
        "529 forever, fallback model set",
        f"{GOOD_ROUND}\n[[reply]]\nwhen = {{ model = 'haiku' }}\ntext = '{ANSWER}'\n"
        "[[reply]]\nstatus = 529\ntimes = 'forever'\n",
        (5, 5),
        arguments=("--fallback-model", "claude-haiku-4-5"),
        stderr="claude-haiku-4-5",
        mechanism=Mechanism.FALLBACK,
    ),
    _fault("500", "status = 500"),
    _fault("503 with a plain-text proxy body", 'status = 503\nbody = "upstream connect error"'),
    _fault("error event inside the stream", f'{_BROKEN}fault = "error_event"', mechanism=Mechanism.ERROR_EVENT),
    _fault("connection reset inside the stream", f'{_BROKEN}fault = "reset"', mechanism=Mechanism.RESET),
    _fault(
        "stream ends cleanly without message_stop", f'{_BROKEN}fault = "clean_end"', mechanism=Mechanism.BROKEN_STREAM
    ),
    FaultRow(
        "reset inside a tool call's JSON",
        f'{GOOD_ROUND}\n[[reply]]\n{_CALL}fault = {{ kind = "cut_tool", characters = 12, ending = "reset" }}\n'
        f"{_FULL_CALL}{FINAL}",
        (4, 4),
        rounds=2,
        mechanism=Mechanism.CUT_CALL,
    ),
    _fault(
        "stall in the middle of text",
        f'{_BROKEN}fault = "stall"',
        seconds=(0, 60),
        slow=True,
        mechanism=Mechanism.SILENCE,
    ),
    _fault(
        "stall before the first byte",
        f'{_BROKEN}fault = {{ kind = "stall", at = "headers" }}',
        seconds=(0, 75),
        slow=True,
        mechanism=Mechanism.SILENCE,
    ),
    _fault("prompt too long once", TOO_LONG, (3, 4), mechanism=Mechanism.COMPACTION),
    _fault("413 once", "status = 413", (3, 4), mechanism=Mechanism.COMPACTION),
    FaultRow(
        "prompt too long forever",
        f'{GOOD_ROUND}\n[[reply]]\ntimes = "forever"\n{TOO_LONG}',
        (2, 4),
        answer=None,
        exit_code=1,
        kind=RowKind.HOPELESS,
        mechanism=Mechanism.REPORT,
        stderr="too long",
    ),
    FaultRow(
        "max_tokens once, then the rest",
        f"{GOOD_ROUND}{_cut(ANSWER[:30])}{FINAL}",
        (3, 4),
        mechanism=Mechanism.ESCALATION,
    ),
    FaultRow(
        "max_tokens three times, then the rest",
        GOOD_ROUND
        + _cut(PIECES[0])
        + _cut(PIECES[0])
        + _cut(PIECES[1])
        + f'\n[[reply]]\ntext = "{PIECES[2]}{PIECES[3]}"\n',
        (5, 6),
        answer="".join(PIECES),
        mechanism=Mechanism.CONTINUATION,
    ),
    FaultRow(
        "max_tokens without end",
        GOOD_ROUND + _cut(PIECES[0]) + "".join(map(_cut, PIECES)),
        (6, 6),
        answer="".join(PIECES),
        exit_code=3,
        stderr="cut",
        kind=RowKind.HOPELESS,
        mechanism=Mechanism.REPORT,
    ),
    FaultRow(
        "tool call cut by max_tokens",
        f'{GOOD_ROUND}\n[[reply]]\n{_CALL}fault = {{ kind = "cut_tool", characters = 12 }}\n{_FULL_CALL}{FINAL}',
        (4, 4),
        rounds=2,
        mechanism=Mechanism.CUT_CALL,
    ),
    _fault("unparsable SSE event", f'{_BROKEN}fault = "bad_json"', mechanism=Mechanism.BAD_EVENT),
    _fault("empty 200 stream", f'{_BROKEN}fault = {{ kind = "clean_end", at = 0 }}', mechanism=Mechanism.BROKEN_STREAM),
    _fault("connection reset before the first byte", f'{_BROKEN}fault = {{ kind = "reset", at = "headers" }}'),
    _fault("502 with a page of HTML", 'status = 502\nbody = "<html><h1>502 Bad Gateway</h1></html>"'),
    _fault(
        "a call of a tool that does not exist",
        'tools = [{ name = "no_such_tool", input = {} }]',
        mechanism=Mechanism.TOOL_ERRORS,
    ),
    _fault(
        "a call without its arguments",
        'tools = [{ name = "bash", input = {} }]',
        mechanism=Mechanism.TOOL_ERRORS,
    ),
    FaultRow(
        "401",
        '[[reply]]\nstatus = 401\ntimes = "forever"\nmessage = "invalid x-api-key"\n',
        (1, 1),
        answer=None,
        exit_code=1,
        kind=RowKind.HOPELESS,
        mechanism=Mechanism.REPORT,
        rounds=0,
        stderr="ANTHROPIC_API_KEY",
    ),
    _stuck("the model asks for the same call forever", "ls"),
    _stuck("the same call fails forever", "cat missing.txt"),
    _fifty("the same call 50 times, news each time", "wc -l < rounds.txt"),
    _fifty("50 pages, one call each", "echo page {number}"),
)


def _server(name: str, fault: str, calls: tuple[str, ...], final: str, answer: str) -> FaultRow:
    """Calls of tools of the practice MCP server, and the answer."""
    replies = (f"\n[[reply]]\ntools = [{{ name = 'mcp__practice__{call}', input = {{}} }}]\n" for call in calls)
    return FaultRow(
        *(name, "".join((*replies, final)), (2, 8)),
        answer=answer,
        rounds=0,
        server=fault,
        kind=RowKind.SERVER,
        mechanism=Mechanism.SERVERS,
    )


_WORKED = """
[[reply]]
text = "The server has done its work: it {said}."
fills = { said = '(worked)' }
"""
_BY_TOOL = (_WORKED, "The server has done its work: it worked.")
"""The answer needs what the tool says."""

SERVER_ROWS: tuple[FaultRow, ...] = (
    _server("a tool of an MCP server", "", ("work",), *_BY_TOOL),
    _server("an MCP server ends in a call, then the next call", "", ("die", "work"), *_BY_TOOL),
    _server("an MCP server writes lines that are no messages", "bad-bytes", ("work",), *_BY_TOOL),
    _server("an MCP server never answers a call", "hang", ("work",), FINAL, ANSWER),
)


def _team(name: str, member: str) -> FaultRow:
    """A member with a task; its request is answered with `member`, and its mail with the answer."""
    script = f"""
[[reply]]
when = {{ text = "Say how high the tide is" }}
{member}

[[reply]]
when = {{ text = "The tide is high." }}
text = "{ANSWER}"

[[reply]]
tools = [{{ name = "team_start", input = {{ name = "ben", task = "Say how high the tide is.", description = "-" }} }}]

[[reply]]
text = "Ben looks."
"""
    return FaultRow(*(name, script, (3, 8)), rounds=0, kind=RowKind.TEAM, mechanism=Mechanism.MEMBERS)


TEAM_ROWS: tuple[FaultRow, ...] = (
    _team("a member's answer reaches the lead", 'text = "The tide is high."'),
    _team(
        "a member's model is overloaded twice",
        'status = 529\ntimes = 2\n\n[[reply]]\nwhen = { text = "Say how high '
        'the tide is" }\ntext = "The tide is high."',
    ),
    _team("a member fails, and the lead hears of it", 'status = 400\nmessage = "The tide is high."\ntimes = "forever"'),
)

_IN_NO_FOLDER = 'test ! -e mine.txt && test -z "$(git log HEAD --format=%s --grep=mine)"'
_IN_A_TREE = """git worktree list --porcelain | sed -n 's/^worktree //p' | while read -r tree; do
if test "$tree" != "$PWD"; then cat "$tree/mine.txt"; fi; done | grep -q mine"""
_REACHED = "git log --all --format=%s | grep -qx mine"


def _worktree(name: str, command: str, kept: str) -> FaultRow:
    """Work in a worktree; what is in the folder afterwards?"""
    return FaultRow(
        *(name, f"\n[[reply]]\n{_bash(command)}{FINAL}", (2, 4)),
        rounds=0,
        kept=f"{_IN_NO_FOLDER} && {kept}",
        kind=RowKind.WORKTREE,
        mechanism=Mechanism.WORKTREES,
    )


WORKTREE_ROWS: tuple[FaultRow, ...] = (
    _worktree(
        "an unchanged worktree goes away",
        "git branch in-$(git rev-parse --absolute-git-dir | grep -c /worktrees/)",
        'git rev-parse -q --verify in-1 && test "$(git worktree list | wc -l)" -eq 1',
    ),
    _worktree("a new file in a worktree", "echo mine > mine.txt", _IN_A_TREE),
    _worktree(
        "an ignored file in a worktree",
        "echo mine.txt > .gitignore; echo mine > mine.txt; git add .gitignore; git commit -qm ignore",
        _IN_A_TREE,
    ),
    _worktree("a commit in a worktree", "git commit -q --allow-empty -m mine", _REACHED),
    _worktree(
        "a commit on no branch in a worktree", "git switch -q --detach; git commit -q --allow-empty -m mine", _REACHED
    ),
)
