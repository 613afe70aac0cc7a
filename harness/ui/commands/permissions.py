"""/permissions: the rules about what may run, and how a person adds one or takes it away."""

from collections.abc import Iterator

from harness.base.terminal_text import visible
from harness.session import PermissionRule, Session
from harness.ui.commands.results import CommandError, Result, Say

HOW = "/permissions allow bash(npm run *) holds for this session; with `always` behind it, for later ones, too."
ORIGINS = {"settings": "in the settings", "session": "for this session", "always": "kept"}
VERDICTS = ("deny", "ask", "allow")


def permissions(session: Session, argument: str) -> Result:
    """List the rules, add one, or remove one."""
    what, _, rest = argument.partition(" ")
    rule = rest.strip()
    if not what:
        return Say("\n".join(_list(session)))
    if what not in (*VERDICTS, "remove"):
        raise CommandError(f"{what!r} is not understood; type /permissions allow, ask, deny or remove, and a rule.")
    if not rule:
        raise CommandError(f"Which rule? Type for example /permissions {what} bash(npm run *).")
    if what == "remove":
        removed = session.remove_permission_rule(rule)
        return Say("\n".join(f"Removed: {_told(one)}" for one in removed))
    keep = rule.endswith(" always")
    return Say(_told(session.add_permission_rule(what, rule.removesuffix(" always").strip(), keep=keep)))


def _list(session: Session) -> Iterator[str]:
    rules = sorted(session.permission_rules, key=lambda rule: VERDICTS.index(rule.verdict))
    width = max((len(visible(rule.text)) for rule in rules), default=0)
    for rule in rules:
        yield f"  {rule.verdict:<5}  {visible(rule.text):<{width}}  {ORIGINS[rule.scope]}"
    yield "deny beats ask, and ask beats allow" if rules else "There are no rules; the mode decides, see /mode."
    yield HOW


def _told(rule: PermissionRule) -> str:
    return f"{rule.verdict} {visible(rule.text)}, {ORIGINS[rule.scope]}"
