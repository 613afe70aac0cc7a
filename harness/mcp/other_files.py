"""Servers in the files of other programs: Claude Code, Claude Desktop, Cursor, VS Code."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.base.files import read_regular
from harness.mcp.config import McpConfigError

MOST_BYTES = 100_000_000
"""Some of these files also hold what their program remembers."""
_TAKEN = {"type", "transport", "command", "args", "env", "cwd", "url", "httpUrl", "serverUrl", "headers", "oauth"}
_TAKEN |= {"timeout", "disabled", "enabled"}
"""Nothing else is: no foreign file says that a server is trusted, or free of the sandbox."""
_COMMENT = r"//[^\n]*|/\*.*?\*/"
_NO_JSON = re.compile(rf'("(?:\\.|[^"\\])*")|{_COMMENT}|,(?=(?:\s|{_COMMENT})*[}}\]])', re.DOTALL)
_REFERENCE = re.compile(r"\$\{(\w+):([^}]*)\}")


def servers_of(path: Path, workspace: Path) -> Iterator[tuple[str, Any, list[str]]]:
    """Name, entry (unchecked) and notes of each server; no entry where it belongs to another folder.

    Raises McpConfigError, OSError.
    """
    text = read_regular(path, MOST_BYTES).decode("utf-8-sig", "replace")
    try:
        data = json.loads(_NO_JSON.sub(r"\1", text))
    except (ValueError, RecursionError) as error:
        raise McpConfigError(f"{path} is not valid JSON: {error}; correct it.") from error
    settings, projects = _table(data, "mcp"), _table(data, "projects")
    here = _table(projects, str(workspace))
    tables = (_table(data, "mcpServers"), _table(data, "servers"), _table(settings, "servers"))
    asked = [*_table(data, "inputs", list), *_table(settings, "inputs", list)]
    inputs = {str(one.get("id")): one for one in asked if isinstance(one, dict)}
    for name, given in {k: v for table in (*tables, _table(here, "mcpServers")) for k, v in table.items()}.items():
        our_name = re.sub(r"[^A-Za-z0-9_. -]+", "-", name).strip("-_. ")[:64] or "server"
        notes = [f"there it is {name[:80]!r}"] if our_name != name else []
        if not isinstance(given, dict):
            yield our_name, None, ["it is not a table"]
            continue
        entry = {key: value for key, value in given.items() if key in _TAKEN and value is not None}
        if other := ", ".join(key for key in given if key not in entry):
            notes.append(f"not taken over: {other[:200]}")
        if name in _table(here, "disabledMcpServers", list):
            entry["disabled"] = True
        yield our_name, _with_variables(entry, inputs, notes), list(dict.fromkeys(notes))
    for folder, project in projects.items():
        if folder != str(workspace) and (names := ", ".join(_table(project, "mcpServers"))):
            yield names, None, [f"of another folder; run this in {folder}"]


def _table(data: Any, key: str, kind: type = dict) -> Any:
    found = data.get(key) if isinstance(data, dict) else None
    return found if isinstance(found, kind) else kind()


def _with_variables(entry: Any, inputs: dict[str, Any], notes: list[str]) -> Any:
    """The entry with variables of the environment for what VS Code asks the user."""

    def ours(match: re.Match[str]) -> str:
        kind, name = match[1], match[2]
        if kind != "input":
            notes.extend([] if kind == "env" or name.startswith("-") else [f"harness does not know {match[0][:60]}"])
            return match[0]
        one, variable = inputs.get(name, {}), re.sub(r"\W", "_", name).upper()
        if isinstance(default := one.get("default"), str) and not one.get("password") and "}" not in default:
            return f"${{{variable}:-{json.dumps(default)[1:-1]}}}"
        notes.append(f"set {variable}: {one.get('description') or name}"[:160])
        return f"${{{variable}}}"

    return json.loads(_REFERENCE.sub(ours, json.dumps(entry)))
