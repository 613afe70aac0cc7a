"""What a tool is: a name, a schema, an effect, and a function that answers.

Its arguments are a pydantic model: `schema_of` gives its JSON schema, `parse` checks the arguments of a call.
"""

import asyncio
import inspect
import json
import os
import re
from collections.abc import Awaitable, Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Protocol, overload

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails, PydanticCustomError

from harness.base.arguments import check_types
from harness.base.concurrency import in_thread
from harness.base.external_text import CUT, visible
from harness.events import Block, FailureCategory, Json, OutputDelta, PlanItem, Revision, Score, ToolOutcome
from harness.processes import Processes
from harness.sandbox import USUAL_TERMS, CommandTerms, ProfileName, SandboxDenial
from harness.tools.output import as_text, shorten
from harness.tools.seen_files import SeenFiles
from harness.tools.workspace import Workspace

MOST_FAULTS = 3
"""More wrong arguments than this are not worth listing in one sentence."""
LONGEST_PATH = 4_096
"""Characters; Linux takes no longer one."""


class ToolArguments(BaseModel):
    """Base of every tool's arguments: frozen, and unknown names are refused."""

    # With any bound on its length, pydantic also refuses a text with half a character (a lone surrogate) in it, which
    # no file and no command line can hold; without one it lets it through.
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), str_min_length=0)


class ArgumentError(ValueError):
    """The arguments of a call do not fit. Its text is one sentence for the model; nothing was run."""


def broken_rule(sentence: str) -> PydanticCustomError:
    """What a validator raises whose own words follow the name of the argument: "has 21 items; 20 are the most"."""
    return PydanticCustomError("broken_rule", "{sentence}", {"sentence": sentence})


def _path(text: str) -> str:
    if len(text) > LONGEST_PATH:
        raise broken_rule(f"has {len(text):,} characters; a path has {LONGEST_PATH:,} at most")
    return text


PathArgument = Annotated[str, Field(min_length=1), AfterValidator(_path)]
"""A path. Rules look at it before the system does, and would look long at one that no system takes."""


def schema_of(model: type[BaseModel]) -> Json:
    """The JSON schema of `model` in a stable key order, without the titles and null defaults that pydantic adds."""
    return deepcopy(_schema_of(model))


@cache
def _schema_of(model: type[BaseModel]) -> Json:
    schema: Json = _untitled(model.model_json_schema())
    properties = schema.get("properties", {})
    kept = {key: schema[key] for key in ("$defs",) if key in schema}
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": bool(schema.get("additionalProperties", False)),
        **kept,
    }


def parse(tool: str, model: type[BaseModel], input: Json) -> BaseModel:
    """The checked arguments of a call to `tool`.

    A null for an argument that has a default counts as not given, because models write it so. Raises `ArgumentError`,
    which names the argument, the given value and the expected one.
    """
    try:
        return model.model_validate(input)
    except ValidationError as error:
        faults = error.errors(include_url=False)
    optional = {name for name, field in model.model_fields.items() if not field.is_required()}
    nulls = {fault["loc"][0] for fault in faults if len(fault["loc"]) == 1 and fault["input"] is None} & optional
    if nulls:
        return parse(tool, model, {name: value for name, value in input.items() if name not in nulls})
    raise ArgumentError(f"{tool} was not run: {'; '.join(_sentences(faults, model, input))}.")


def _sentences(faults: list[ErrorDetails], model: type[BaseModel], input: Json) -> list[str]:
    """One part of a sentence for each fault; a misspelt argument is not also reported as missing."""
    unknown = [
        str(fault["loc"][0]) for fault in faults if fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1
    ]
    meant = {near for name in unknown[:MOST_FAULTS] if (near := _nearest(name, model))}
    faults = [
        fault
        for fault in faults
        if not (fault["type"] == "missing" and fault["loc"][0] in meant) and fault["type"] != "none_required"
    ]
    more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
    return [_sentence(fault, model, input) for fault in faults[:MOST_FAULTS]] + more


def _sentence(fault: ErrorDetails, model: type[BaseModel], input: Json) -> str:
    name = _place(fault, input)
    match fault["type"]:
        case "missing":
            field = model.model_fields.get(name)
            meaning = f" ({field.description.rstrip('.')})" if field and field.description else ""
            return f"the argument `{name}`{meaning} is missing"
        case "extra_forbidden" if len(fault["loc"]) > 1:
            return f"there is no `{name}`"
        case "extra_forbidden":
            near = _nearest(name, model)
            takes = ", ".join(model.model_fields) or "none"
            return f"there is no argument `{name}` " + (f"(did you mean `{near}`?)" if near else f"(it takes {takes})")
        case "model_type":
            return f"`{name}` was {_short(fault['input'])}, but input should be an object"
        case "broken_rule":
            return f"`{name}` {fault['msg']}"
        case _:
            problem = fault["msg"][:1].lower() + fault["msg"][1:]
            return f"`{name}` was {_short(fault['input'])}, but {problem}"


def _place(fault: ErrorDetails, input: Any) -> str:
    """The place of a fault in the input, without the labels that pydantic adds for the branches of a union."""
    *path, last = fault["loc"] or ("name of an argument",)  # no place: a name that is no text
    parts = []
    for part in path:
        try:
            input = input[part]
        except (KeyError, IndexError, TypeError):
            continue
        parts.append(_cut(str(part)))
    if fault["type"] == "missing" or not path or isinstance(input, dict | list):
        parts.append(_cut(str(last)))
    return ".".join(parts)


def _nearest(name: str, model: type[BaseModel]) -> str | None:
    near = get_close_matches(_cut(name), list(model.model_fields), n=1, cutoff=0.5)
    return near[0] if near else None


def _short(value: object) -> str:
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _is_noise(key: str, value: object) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "default" and value is None)


def _untitled(node: Any) -> Any:
    match node:
        case {"properties": dict() as properties, **rest}:
            # An argument may itself be called "title"; only the titles of schemas go.
            return {**_untitled(rest), "properties": {name: _untitled(value) for name, value in properties.items()}}
        case dict():
            return {key: _untitled(value) for key, value in node.items() if not _is_noise(key, value)}
        case list():
            return [_untitled(item) for item in node]
        case _:
            return node


# ── tools and their results ─────────────────────────────────────────────────────────────────────────

RESULT_CHARACTERS = 50_000
"""Most characters of one result that enter the history."""


class Effect(StrEnum):
    """What a tool does; permissions depend on it."""

    READ = "read"
    WRITE = "write"
    RUN = "run"
    DELEGATE = "delegate"
    """Runs subagents; each of their calls is decided separately."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call, for the model and the user."""

    content: str
    """What the model reads."""
    outcome: ToolOutcome = ToolOutcome.OK
    summary: str = ""
    """A few words for the user: "88 lines", "exit 1"."""
    detail: str = ""
    """Text to expand: a diff, the head of an output."""
    full_output: Path | None = None
    """Where the whole text is, if `content` was shortened."""
    category: FailureCategory | None = None
    """How the tool itself failed; set exactly where `outcome` is BROKEN."""
    as_of: float | None = None
    """Unix time at which the content was true, where the tool knows; None: now, or unknown."""
    undated: bool = False
    """It may be older, and the tool does not know its time."""
    missing: str = ""
    """The program that could not be started, where the tool runs programs; empty: none, or the tool itself."""
    plan: tuple[PlanItem, ...] | None = None
    """The sub-tasks that the call declares, all of them; None: it says nothing about them."""
    revision: Revision | None = None
    """The content that was read in full, or the content after a change; None: unknown. It distinguishes a change from a
    write of the same content, and stale content from current content."""
    detail_of: int = 0
    """Lines of the whole output when `detail` is only its beginning; 0: `detail` is complete."""
    media: tuple[Block, ...] = ()
    """Image and document blocks that the model gets behind `content`; only where `outcome` is OK."""
    denials: tuple[SandboxDenial, ...] = ()
    """What the sandbox refused its command."""
    obeyed: tuple[str, ...] = ()
    """Files and folders that other programs obey by their names, which its command made or changed, but not git."""


class ToolCancelled(asyncio.CancelledError):
    """A call was cancelled, and has this to show for it. A tool raises it instead of the CancelledError it received."""

    def __init__(self, result: ToolResult) -> None:
        """`result`: what there was until then; its outcome is CANCELLED."""
        super().__init__(result.summary)
        self.result = result


class ToolError(Exception):
    """Raise it in your own tool with one sentence for the model: why the call cannot be done."""


class SearchFilter(Protocol):
    """Whether a search skips a file, given by its real absolute path."""

    def __call__(self, path: str, *, content: bool) -> bool:
        """`content`: the search shows the content of the file, not only its name."""


def _nothing(path: str, *, content: bool) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Where a call runs."""

    workspace: Workspace
    outputs: Path
    """Folder of the session for outputs too long for the history; made when first needed."""
    call_id: str
    processes: Processes = field(default_factory=Processes)
    """Starts the call's child processes."""
    withholds: SearchFilter = _nothing
    """Which files a search skips."""
    agent: str = ""
    """Id of the subagent that calls; empty: the main agent."""
    profile: ProfileName = ProfileName.FREE
    """What its command may read, write and reach."""
    terms: CommandTerms = USUAL_TERMS
    """What goes with that profile."""
    unasked: bool = False
    """It runs without a question because it only reads, so it inherits nothing that makes it do more."""
    seen: SeenFiles = field(default_factory=SeenFiles)
    """What the calling agent knows of the files."""
    show_output: Callable[[OutputDelta], None] = lambda delta: None
    """Shows the user what a running call has written so far."""

    @property
    def output_file(self) -> Path:
        """Where this call's whole output goes. The id comes from a model, so it may not choose the folder."""
        name = "".join(char if char.isalnum() or char in "-_" else "_" for char in self.call_id)[:100]
        return self.outputs / f"{name or 'call'}.txt"


def _first_value(input: Json) -> str:
    value = next(iter(input.values()), "")
    return shorten_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def shorten_line(text: str, limit: int = 100) -> str:
    """The first line of `text`, cut to `limit` characters."""
    line, _, rest = visible(text.strip()).partition("\n")
    return line if len(line) <= limit and not rest else line[: limit - len(CUT)].rstrip() + CUT


def invalid(text: str) -> ToolResult:
    """The result of a call that asks for something impossible, which changed nothing; `text` says why."""
    return ToolResult(text, ToolOutcome.INVALID, shorten_line(text))


@dataclass(frozen=True, slots=True)
class ToolHealth:
    """What a check before a call found."""

    score: Score
    why: str = ""
    """One line for the user if it is not AVAILABLE."""


AVAILABLE = ToolHealth(Score.AVAILABLE)


def runs_here(folder: Path, program: Callable[[], str]) -> Callable[[], Awaitable[ToolHealth]]:
    """A check for a tool that starts `program` in `folder`: both have to be there."""

    def look() -> ToolHealth:
        if not folder.is_dir():
            return ToolHealth(Score.UNAVAILABLE, f"the folder {folder} is gone")
        if not os.access(program(), os.X_OK):
            return ToolHealth(Score.UNAVAILABLE, f"{program()} cannot be executed")
        return AVAILABLE

    return partial(in_thread, look)


@dataclass(frozen=True, slots=True)
class Tool:
    """Something the model may ask for."""

    name: str
    description: str
    arguments: type[BaseModel]
    effect: Effect
    run: Callable[[ToolContext, Any], Awaitable[ToolResult]]
    """Takes what `parse` returned. Does not raise for expected failures. Cancelled at its time limit or when the turn
    is interrupted; it is abandoned if it does not end shortly after."""
    summarise: Callable[[Json], str] = _first_value
    """The call in one line. Takes the raw input, right or wrong, and never raises."""
    changes: bool = False
    """With `Effect.READ`: it needs no permission, but changes something other than files, such as a task board. Plan
    mode refuses it."""
    parallel: bool = False
    """True: safe to run at the same time as other parallel calls."""
    preview: Callable[[ToolContext, Any], str] | None = None
    """What a permission question shows: the command, the diff."""
    check: Callable[[], Awaitable[ToolHealth]] | None = None
    """Says before a call whether the tool can work at all, such as whether its server is there. Advice: a good result
    holds for some steps, and one that raises or takes too long means degraded (docs/breakers.md)."""
    resource: Callable[[Json], str | None] | None = None
    """What the call reads or changes as a whole, such as a path; None where only a part of it is read. With it
    a result can be seen to be older than a change."""
    opens: Callable[[Json], str | None] | None = None
    """The file that a call opens, absolute, if it is not the argument `path`: a tool that opens one has to name it, so
    that permissions are decided by it. Takes the raw input and never raises."""
    stays_inside: bool = False
    """It refuses an argument `path` outside of the workspace, so that no user is asked about such a call."""
    caches: bool | None = None
    """True: it answers from a cache at times. False: it reads what it shows at each call, so that what it says is the
    present state. None: not known, so that evidence counts."""
    destructive: bool = False
    """Its server says that it may destroy something: a permission question says so, too."""
    idempotent: bool | None = None
    """Calling it again with the same arguments does no harm; None: where it only reads."""
    polls: bool = False
    """It is meant to be called again and again until something has happened."""
    command_line: Callable[[Json], str | None] | None = None
    """The command line that a call runs, for a tool that runs one: its programs have breakers of their own."""
    schema: Json | None = None
    """The JSON schema of the arguments where no model describes them, as for tools of MCP servers; the server checks
    them. None: that of `arguments`."""
    breaker: str = ""
    """Key of the breaker that the tool shares with others, such as all of one MCP server: `mcp__github`. The tool is a
    part of it then, with a breaker of its own. Empty: its name."""
    timeout_s: float | None = None
    """Seconds a call may take; None: the setting `tool_timeout_s`; infinite: the tool has its own limit."""
    die: Callable[[], Awaitable[ToolResult]] | None = None
    """Kills the server that does the work, and returns the result of a call under way, for practice. None: the tool has
    no server."""

    @property
    def part(self) -> str:
        """What it is called within `breaker`."""
        return self.name.removeprefix(f"{self.breaker}__")

    @property
    def repeatable(self) -> bool:
        """The program may repeat a call automatically."""
        return self.effect is Effect.READ if self.idempotent is None else self.idempotent

    def spec(self) -> Json:
        """The tool as the Messages API wants it, keys always in the same order, which keeps the cache."""
        schema = schema_of(self.arguments) if self.schema is None else self.schema
        return {"name": self.name, "description": self.description, "input_schema": schema}

    def parse(self, input: Json) -> Any:
        """The checked arguments. Raises `ArgumentError` with one sentence for the model."""
        return parse(self.name, self.arguments, input)


NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Names of tools that the API takes."""


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    effect: Effect = ...,
    parallel: bool = ...,
    polls: bool = ...,
    timeout_s: float | None = ...,
    check: Callable[[], Any] | None = ...,
    name: str | None = ...,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    effect: Effect = Effect.RUN,
    parallel: bool = False,
    polls: bool = False,
    timeout_s: float | None = None,
    check: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a typed function with a docstring.

        @tool(effect=Effect.READ)
        def weather(city: str) -> str:
            "The weather in a city."

    The schema comes from the type hints (`Annotated[str, Field(description=…)]` describes an argument), the description
    from the docstring. A parameter annotated `ToolContext` is given the context and is not shown to the model. A plain
    function runs in a thread. It may return anything: a `ToolResult` is used as it is, text is the content, everything
    else becomes JSON. `ToolError` is the polite no; any other exception counts as a broken tool.

    Without an `effect` the tool counts as RUN and needs confirmation. With `polls` repeated calls are not a loop,
    within time limits. `timeout_s` is its time limit in seconds, instead of the setting `tool_timeout_s`; over it the
    call counts as a failure of the tool. `check` is a function without arguments, plain or async, that says before a
    call whether the tool can work: a `ToolHealth`, or True or False. Raises TypeError when it is not a function, is a
    generator, has no docstring, or an argument has no type or no name, and when the check is no function; ValueError
    for a time limit that is not above zero.
    """
    check_types(
        {
            "effect": (effect, Effect, f"an Effect: {', '.join(map(str, Effect))}"),
            "parallel": (parallel, bool, "True or False"),
            "polls": (polls, bool, "True or False"),
            "timeout_s": (timeout_s, (int, float), "seconds"),
            "name": (name, str, "a text"),
        }
    )
    if name is not None and not NAME.fullmatch(name):
        raise ValueError(f"name= takes at most 64 letters, digits, _ and -, not {name!r}.")
    if timeout_s is not None and not timeout_s > 0:
        raise ValueError(f"timeout_s must be above zero, not {timeout_s:g}")

    if check is not None and not callable(check):
        raise TypeError(f"check takes a function without arguments, not {check!r}")
    asked = None if check is None else partial(_health_by, check)

    def made(function: Callable[..., Any]) -> Tool:
        return replace(_tool_of(function, effect, parallel, name), polls=polls, timeout_s=timeout_s, check=asked)

    return made if function is None else made(function)


async def _health_by(check: Callable[[], Any]) -> ToolHealth:
    """What a check says. Raises what it raises, and TypeError for anything that is no answer."""
    said = check() if inspect.iscoroutinefunction(check) else await in_thread(check)
    if inspect.isawaitable(said):
        said = await said
    match said:
        case ToolHealth():
            return said
        case bool():
            return AVAILABLE if said else ToolHealth(Score.UNAVAILABLE, "its check says no")
        case _:
            raise TypeError(f"it returned {_short(said)} instead of a ToolHealth, True or False")


def _tool_of(function: Callable[..., Any], effect: Effect, parallel: bool, name: str | None) -> Tool:
    """Raises TypeError with one sentence, also for a generator or an object that is not a function."""
    if not inspect.isfunction(function) and not inspect.ismethod(function):
        what = f"{function.name} is a tool already" if isinstance(function, Tool) else f"{function!r} is no function"
        raise TypeError(f"{what}; put @tool above a def with types and a docstring")
    name = name or function.__name__
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"the tool {name} is a generator; let it return a text or a list instead of yielding")
    description = inspect.getdoc(function)
    if not description:
        raise TypeError(f"the tool {name} needs a docstring: the model chooses tools by it")
    fields: dict[str, Any] = {}
    context_name: str | None = None
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if parameter.annotation is ToolContext:
            context_name = parameter.name
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"the tool {name} cannot take {parameter}: a model passes arguments by name")
        if parameter.annotation is parameter.empty:
            raise TypeError(f"the argument {parameter.name} of the tool {name} needs a type")
        fields[parameter.name] = (
            parameter.annotation,
            ... if parameter.default is parameter.empty else parameter.default,
        )
    arguments = create_model(f"{name}_arguments", __base__=ToolArguments, **fields)

    async def run(context: ToolContext, given: BaseModel) -> ToolResult:
        values = {field: getattr(given, field) for field in fields}
        if context_name is not None:
            values[context_name] = context
        try:
            if inspect.iscoroutinefunction(function):
                returned = await function(**values)
            else:
                returned = await in_thread(partial(function, **values))
                if inspect.isawaitable(returned):  # a plain wrapper around an async function
                    returned = await returned
            if inspect.isgenerator(returned) or inspect.isasyncgen(returned):
                raise TypeError(f"it returned a {type(returned).__name__}; let it return a text or a list")
        except ToolError as refusal:
            return ToolResult(str(refusal), ToolOutcome.ERROR, shorten_line(str(refusal)))
        except Exception as error:  # noqa: BLE001  border: the function is not ours, and its failure must not end the turn
            text = f"{name} failed: {type(error).__name__}: {error}"
            return ToolResult(text, ToolOutcome.BROKEN, shorten_line(text), category=category_of(error))
        return _result_of(returned, context)

    return Tool(name, description, arguments, effect, run, parallel=parallel)


def category_of(error: BaseException) -> FailureCategory:
    """How a tool failed that raised `error`."""
    match error:
        case TimeoutError():
            return FailureCategory.TIMEOUT
        case ConnectionError():
            return FailureCategory.TRANSPORT
        case FileNotFoundError() | PermissionError():
            return FailureCategory.CANNOT_START
        case OSError():
            return FailureCategory.SYSTEM
        case _:
            return FailureCategory.CRASHED


def _result_of(returned: object, context: ToolContext) -> ToolResult:
    if isinstance(returned, ToolResult):
        return returned
    text = as_text(returned)
    content, full_output = shorten(text, RESULT_CHARACTERS, context.output_file)
    return ToolResult(content or "(nothing returned)", summary=shorten_line(text), full_output=full_output)
