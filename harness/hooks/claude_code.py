"""What a hook command reads beside our own fields: those of Claude Code, so that a script written for it works here.

Field names and values: https://code.claude.com/docs/en/hooks
"""

import posixpath
from collections.abc import Mapping
from types import MappingProxyType

from harness.events import HookPoint, Json

EVENTS: Mapping[HookPoint, str] = MappingProxyType(
    {
        HookPoint.SESSION_START: "SessionStart",
        HookPoint.SESSION_END: "SessionEnd",
        HookPoint.PROMPT_SUBMIT: "UserPromptSubmit",
        HookPoint.BEFORE_TOOL: "PreToolUse",
        HookPoint.AFTER_TOOL: "PostToolUse",
        HookPoint.BEFORE_COMPACTION: "PreCompact",
        HookPoint.AFTER_COMPACTION: "PostCompact",
        HookPoint.TASK_CREATED: "TaskCreated",
        HookPoint.TASK_COMPLETED: "TaskCompleted",
        HookPoint.STOP: "Stop",
        HookPoint.NOTIFICATION: "Notification",
    }
)
TOLD = frozenset({HookPoint.SESSION_START, HookPoint.PROMPT_SUBMIT})
"""Where plain text on stdout is context for the model."""
_TOOLS = {
    "bash": "Bash",
    "read_file": "Read",
    "write_file": "Write",
    "edit_file": "Edit",
    "glob": "Glob",
    "grep": "Grep",
    "agent": "Agent",
    "skill": "Skill",
    "todo_write": "TodoWrite",
    "ask_user": "AskUserQuestion",
    "web_fetch": "WebFetch",
    "web_search": "WebSearch",
    "read_background": "BashOutput",
    "kill_background": "KillShell",
}
_FILE = ("read_file", "write_file", "edit_file")
_FIELDS = {"bash": {"background": "run_in_background"}, "agent": {"kind": "subagent_type"}}
_FIELDS |= {name: {"path": "file_path"} for name in _FILE}


def tool_name(tool: str) -> str:
    """What Claude Code calls this tool; the name itself where it has no such tool."""
    return _TOOLS.get(tool, tool)


def tool_input(tool: str, input: Json, workspace: str) -> Json:
    """The input of a call with the fields of Claude Code, where paths of files are absolute."""
    names = _FIELDS.get(tool, {})
    theirs = {names.get(name, name): value for name, value in input.items()}
    if isinstance(theirs.get("file_path"), str) and tool in _FILE:
        theirs["file_path"] = posixpath.normpath(posixpath.join(workspace, theirs["file_path"]))
    return theirs


def own_input(tool: str, answered: Json, input: Json, workspace: str) -> Json:
    """An input that a hook answered, with our own fields; `input`: that of the call."""
    theirs = tool_input(tool, input, workspace)
    names = {theirs: own for own, theirs in _FIELDS.get(tool, {}).items() if theirs in answered}
    return {
        names.get(name, name): input[names[name]]
        if name in names and name in theirs and value == theirs[name]
        else value
        for name, value in answered.items()
        if name not in names.values()
    }


def document(point: HookPoint, fields: Json, *, workspace: str, session: str, journal: str) -> Json:
    """The fields of Claude Code for this point; `fields`: our own."""
    theirs: Json = {
        "hook_event_name": EVENTS[point],
        "session_id": session,
        "transcript_path": journal,
        "cwd": workspace,
    }
    match point:
        case HookPoint.SESSION_END:
            theirs["reason"] = "other"
        case HookPoint.PROMPT_SUBMIT:
            theirs["prompt"] = fields["input"]["prompt"]
        case HookPoint.BEFORE_TOOL | HookPoint.AFTER_TOOL:
            theirs["tool_name"] = tool_name(fields["tool"])
            theirs["tool_input"] = tool_input(fields["tool"], fields["input"], workspace)
            theirs["tool_use_id"] = fields["call_id"]
            if point is HookPoint.AFTER_TOOL:
                theirs["tool_response"] = {"content": fields["result"], "success": fields["outcome"] == "ok"}
        case HookPoint.BEFORE_COMPACTION | HookPoint.AFTER_COMPACTION:
            theirs["custom_instructions"] = ""
        case HookPoint.TASK_CREATED | HookPoint.TASK_COMPLETED:
            task = fields["task"]
            theirs |= {f"task_{name}": task[name] for name in ("id", "subject", "description") if name in task}
        case HookPoint.STOP:
            theirs["stop_hook_active"] = fields["objections"] > 0
            theirs["last_assistant_message"] = fields["answer"]
        case HookPoint.NOTIFICATION:
            theirs["message"] = fields["text"]
            theirs["notification_type"] = "permission_prompt" if fields["kind"] == "permission" else fields["kind"]
    return theirs
