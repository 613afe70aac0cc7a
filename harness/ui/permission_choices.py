"""The permission question: what it shows, the answers it offers, and what they mean."""

from collections.abc import Sequence

from harness.events import PermissionAsked, QuestionAsked
from harness.session import PermissionAnswer, PermissionRequest, rule_in_words
from harness.ui.choices import Choice

NOT_FOR_DANGER = "a dangerous call is allowed once only"
MOST_SAVED = 400
"""Characters of the rules that one answer saves; more could not be read below their choice."""
NOT_OFFERED = {"a": "no rule allows exactly this", "f": "no rule allows calls like this one", "e": "this edits no file"}
"""Keys of the choices that hold for later calls, and why a question does not offer them."""


def permission_title(asked: PermissionAsked, request: PermissionRequest) -> str:
    """The call, once: the whole command and whether it runs in the background, or the tool and what it is about."""
    command = _command(request)
    where = "in the background: " if command and request.input.get("background") is True else ""
    return f"{asked_by(asked)}{where}{command or f'{request.tool} {asked.summary}'}"


def has_detail(asked: PermissionAsked, request: PermissionRequest) -> bool:
    """There is more to show than the title and the summary of the call say."""
    return request.detail.strip() not in ("", asked.summary.strip(), _command(request))


def permission_reasons(asked: PermissionAsked, request: PermissionRequest) -> Sequence[str]:
    """Why it is asked, one line for each danger. A danger of the whole command does not repeat it. Where there is a
    sandbox, the last line says what the command may do with the answer yes."""
    sandbox = (_with_yes(request),) if request.sandbox else ()
    if not request.dangers:
        return (asked.why, *sandbox)
    quoted = f"`{' '.join(_command(request).split())}`: "
    before = asked.why.partition(request.dangers[0])[0].rstrip(" ;")
    dangers = [danger.removeprefix(quoted) for danger in request.dangers]
    return (*([before] if before else []), *(f"dangerous: {danger}" for danger in dangers), *sandbox)


def _with_yes(request: PermissionRequest) -> str:
    """What a command may read, write and reach if it is allowed."""
    if request.profile == "free":
        return "yes: it runs without the sandbox"
    paths = f"may write {', '.join(request.allowance.paths)}" if request.allowance.paths else ""
    hosts = f"may reach {', '.join(request.allowance.hosts)}" if request.allowance.hosts else ""
    return f"yes: it runs in the sandbox and {' and '.join(filter(None, (paths, hosts)))}"


def permission_choices(request: PermissionRequest) -> tuple[Choice, ...]:
    """The answers. The label, or lines below it, spell out the rules that an answer saves."""
    no = Choice("n", "no, and say why", "no", asks="why not? (Enter: no reason)")
    once = Choice("y", "yes, once", "once")
    if request.dangers:
        return (once, no)
    return (once, *_lasting(request), no)


def _lasting(request: PermissionRequest) -> list[Choice]:
    if request.edits:
        note = "except files that git, a shell, an editor, a CI or an agent obeys"
        choices = [Choice("e", "yes, and all edits from now on", "edits", note=note)]
    elif request.profile != "free":
        choices = [Choice("a", "yes, this and later commands in this session", "always")]
    elif request.effect == "write":
        choices = []  # a rewind or a rollback
    elif request.offers and sum(map(len, request.offers)) <= MOST_SAVED:
        saved = () if request.offers == (f"bash({_command(request)})",) else request.offers
        this = "" if saved else " exactly this"
        choices = [Choice("a", f"yes, always in this folder:{this}", "exact", lines=saved)]
    else:
        choices = [Choice("a", "yes, always in this session: exactly this", "always")]
    if request.family:
        choices.append(Choice("f", f"yes, always in this folder: {rule_in_words(request.family)}", "family"))
    return choices


def permission_answer(value: str, text: str, request: PermissionRequest) -> PermissionAnswer:
    """What the chosen answer means; `text`: the reason for a no."""
    match value:
        case "once" | "always" | "edits":
            return PermissionAnswer(value)
        case "exact":
            return PermissionAnswer("always", rules=request.offers, keep=True)
        case "family":
            return PermissionAnswer("always", rules=(request.family,), keep=True)
        case _:
            return PermissionAnswer("no", text)


def missing_choices(request: PermissionRequest) -> dict[str, str]:
    """Keys that other permission questions offer, and why this one does not."""
    offered = {choice.key for choice in permission_choices(request)}
    missing = {key: why for key, why in NOT_OFFERED.items() if key not in offered}
    return dict.fromkeys(missing, NOT_FOR_DANGER) if request.dangers else missing


def asked_by(asked: PermissionAsked | QuestionAsked) -> str:
    """The subagent that asks, as a prefix: "agent a3: "; empty for the main agent."""
    return f"agent {asked.agent}: " if asked.agent else ""


def _command(request: PermissionRequest) -> str:
    command = request.input.get("command")
    return command.strip() if request.tool == "bash" and isinstance(command, str) else ""
