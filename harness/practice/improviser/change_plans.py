"""Plans that write files. Each looks before it writes."""

import re

from harness.practice.improviser import phrases as say
from harness.practice.improviser.file_plans import reading
from harness.practice.improviser.goals import AppendText, CreateFile, ReplaceText
from harness.practice.improviser.plan_context import Setting, excerpt
from harness.practice.improviser.plan_recovery import Ask, Plan
from harness.practice.improviser.results import FileText, file_text, listed_paths
from harness.practice.improviser.sentence_goals import wrapped
from harness.practice.improviser.toolset import Ability


def create_file(setting: Setting, goal: CreateFile) -> Plan:
    """Write a new file, unless one of that name is there."""
    if not goal.replace and setting.tools.can(Ability.FIND):
        look = setting.tools.exists(goal.path)
        (found,) = yield Ask(setting.say(say.WILL_CHECK, path=goal.path), (look,))
        if found.skipped:
            return f"{setting.say(say.NOT_CHECKED, path=goal.path)}\n\n{setting.trouble(found, look)}"
        if not found.failed and goal.path.removeprefix("./") in listed_paths(found):
            return setting.say(say.EXISTS, path=goal.path)
    return (yield from write(setting, goal.path, goal.content))


def write(setting: Setting, path: str, content: str) -> Plan:
    """Write a file whole."""
    call = setting.tools.write(path, content)
    (result,) = yield Ask(setting.say(say.WILL_WRITE, path=path), (call,))
    lines = content.count("\n") + (not content.endswith("\n") and content != "")
    return setting.trouble(result, call) or setting.say(say.WROTE, path=path, count=lines)


def append_text(setting: Setting, goal: AppendText) -> Plan:
    """Add a text at the end of a file; a file that does not exist is begun with it."""
    call = setting.tools.read(goal.path)
    (result,) = yield Ask(setting.say(say.WILL_READ, path=goal.path), (call,))
    done = setting.say(say.APPENDED, text=excerpt(goal.text, 200), path=goal.path)
    if result.missing:
        return (yield from write(setting, goal.path, wrapped(goal.text)))
    if trouble := setting.trouble(result, call):
        return trouble
    text = file_text(result, goal.path)
    if not text.whole or not text.clear:
        return setting.say(say.PARTLY_SEEN, path=goal.path)
    content = "".join(f"{line}\n" for line in text.lines) + wrapped(goal.text)
    last = text.lines[-1] if text.lines else ""
    edit = setting.tools.edit(goal.path, last, f"{last}\n{goal.text}") if last and text.text.count(last) == 1 else None
    change = edit or setting.tools.write(goal.path, content)
    (changed,) = yield Ask(setting.say(say.WILL_EDIT, path=goal.path), (change,))
    return setting.trouble(changed, change) or done


def replace_text(setting: Setting, goal: ReplaceText) -> Plan:
    """Put one text in place of another, after a look at where it stands."""
    read = yield from reading(setting, goal.path)
    if isinstance(read, str):
        return read
    path, text, lead = read
    if not text.clear:
        return setting.say(say.PARTLY_SEEN, path=path)
    old, new = _setting_line(goal, text) or (goal.old, goal.new)
    count = text.text.count(old)
    if count == 0:
        return f"{lead}\n\n{setting.say(say.NOT_IN_FILE, old=excerpt(old, 200), path=path)}".strip()
    edit = setting.tools.edit(path, old, new) if count == 1 and text.text.find(old) == text.text.rfind(old) else None
    if edit is None and not text.whole:
        return setting.say(say.PARTLY_SEEN, path=path)
    content = "".join(f"{line}\n" for line in text.lines).replace(old, new)
    change = edit or setting.tools.write(path, content)
    (changed,) = yield Ask(setting.say(say.WILL_EDIT, path=path), (change,))
    if trouble := setting.trouble(changed, change):
        return trouble
    done = setting.say(say.REPLACED, path=path, old=excerpt(old, 200), new=excerpt(new, 200))
    if count > 1:
        done += " " + setting.say(say.SEVERAL_IN_FILE, path=path, old=excerpt(old, 200), count=count)
    return f"{lead}\n\n{done}".strip()


def _setting_line(goal: ReplaceText, text: FileText) -> tuple[str, str] | None:
    """The line "timeout = 10" and what it becomes, if the goal means the value of a setting."""
    if not goal.setting:
        return None
    pattern = re.compile(rf"^(?P<name>\s*[\"']?{re.escape(goal.old)}[\"']?\s*[=:]\s*)(?P<value>.*?)(?P<end>,?)\s*$")
    found = [match for line in text.lines if (match := pattern.match(line))]
    if len(found) != 1 or not found[0]["value"]:
        return None
    quote = found[0]["value"][0] if found[0]["value"][0] in "\"'" and goal.new[:1] not in "\"'" else ""
    return found[0][0], f"{found[0]['name']}{quote}{goal.new}{quote}{found[0]['end']}"
