"""Names of tools as people write them: in rules, hooks, agents, commands and skills, of this program or of others.

Everything that reads such a name asks `tool_called`, so that a name means the same tool everywhere.
"""

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from types import MappingProxyType

OURS = frozenset(
    {"agent", "ask_user", "bash", "edit_file", "forget", "glob", "grep", "kill_background", "list_background"}
    | {"answer", "message", "request", "roster", "team_start", "team_stop"}
    | {"monitor_background", "read_background", "read_file", "recall", "remember", "schedule_create", "schedule_delete"}
    | {"schedule_list", "skill", "task_claim", "task_create", "task_get", "task_list", "task_update", "todo_write"}
    | {"web_fetch", "web_search", "write_file"}
)
"""The tools of this program."""
_OTHERS: Mapping[str, str] = MappingProxyType(
    {
        "bash": "Shell Terminal Execute LocalShell ExecCommand ExecuteCommand RunCommand RunTerminalCmd "
        "RunTerminalCommand RunShellCommand RunInTerminal PowerShell",
        "read_file": "Read View NotebookRead ReadManyFiles OpenFile",
        "write_file": "Write CreateFile WriteToFile",
        "edit_file": "Edit MultiEdit NotebookEdit ApplyPatch Patch StrReplaceEditor StrReplaceBasedEditTool "
        "ReplaceInFile ReplaceStringInFile SearchReplace",
        "glob": "LS List ListDir ListDirectory ListFiles FileSearch",
        "grep": "Search GrepSearch SearchFileContent SearchFiles",
        "agent": "Task SpawnAgent",
        "read_background": "BashOutput",
        "monitor_background": "Monitor",
        "kill_background": "KillBash KillShell",
        "todo_write": "Todo TodoRead UpdatePlan",
        "remember": "SaveMemory",
        "web_search": "GoogleWebSearch",
        "schedule_create": "CronCreate",
        "schedule_delete": "CronDelete",
        "schedule_list": "CronList",
    }
)
"""What other programs call their tools that do the same; capitals, `_` and `-` make no difference."""
NOTEBOOKS = "notebookedit"
_MCP = re.compile(r"mcp__[\w.-]*(?:\*[\w.-]*)*")


def plain_name(name: str) -> str:
    """A name without what differs between the spellings of one."""
    return name.replace("_", "").replace("-", "").lower()


_MEANT: Mapping[str, str] = MappingProxyType(
    {plain_name(name): name for name in OURS}
    | {plain_name(other): own for own, others in _OTHERS.items() for other in others.split()}
)


def tool_called(name: str, also: Collection[str] = ()) -> str:
    """The tool that a name means; empty: none.

    Tools of MCP servers keep their names. `also`: tools that a program has added, called by their exact names.
    """
    if name in OURS or name in also or _MCP.fullmatch(name):
        return name
    return _MEANT.get(plain_name(name), "")


def pattern_of(name: str) -> str:
    """The pattern "mcp__docs__*" for "mcp__docs", which means all tools of the server docs; any other name as it is."""
    names_server = name.startswith("mcp__") and "*" not in name and name.count("__") == 1
    return f"{name}__*" if names_server else name


def nearest_tool(name: str, also: Collection[str] = ()) -> str:
    """What to write instead of a name that means no tool, to end the sentence "there is no tool …; …"."""
    known = {plain_name(one): one for one in (*OURS, *also)} | dict(_MEANT)
    near = get_close_matches(plain_name(name), known, n=1, cutoff=0.6)
    return f"perhaps {known[near[0]]} was meant" if near else f"there are {', '.join(sorted((*OURS, *also)))}"
