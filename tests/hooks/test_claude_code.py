"""Fields of Claude Code in what a hook command reads, and in what it answers."""

from harness.events import HookPoint, Json
from harness.hooks import HookCall
from harness.hooks.claude_code import EVENTS, own_input, tool_input
from harness.hooks.definition import point_called


def told(point: HookPoint, **fields: object) -> Json:
    call = HookCall(point, "/w", 1, session="s1", journal="/state/s1.jsonl", **fields)  # type: ignore[arg-type]
    return call.document()


def test_every_point_has_the_common_fields_and_the_name_that_settings_may_use() -> None:
    for point in HookPoint:
        document = told(point, input={"prompt": "hi"})
        assert document["hook_event_name"] == EVENTS[point]
        assert (document["session_id"], document["transcript_path"], document["cwd"]) == ("s1", "/state/s1.jsonl", "/w")
        assert point_called(EVENTS[point]) is point


def test_a_call_is_described_by_its_names_there() -> None:
    document = told(HookPoint.BEFORE_TOOL, tool="bash", call_id="c1", input={"command": "ls", "background": True})
    assert (document["tool_name"], document["tool_use_id"]) == ("Bash", "c1")
    assert document["tool_input"] == {"command": "ls", "run_in_background": True}
    assert (document["tool"], document["input"]) == ("bash", {"command": "ls", "background": True})
    assert told(HookPoint.BEFORE_TOOL, tool="mcp__git__log")["tool_name"] == "mcp__git__log"


def test_paths_of_files_are_absolute() -> None:
    for tool in ("read_file", "write_file", "edit_file"):
        assert tool_input(tool, {"path": "src/../.env"}, "/w") == {"file_path": "/w/.env"}
        assert tool_input(tool, {"path": "/etc/x"}, "/w") == {"file_path": "/etc/x"}
    assert tool_input("grep", {"path": "src", "pattern": "x"}, "/w") == {"path": "src", "pattern": "x"}
    assert tool_input("write_file", {"path": 3}, "/w") == {"file_path": 3}  # inputs of models are not checked yet


def test_the_other_points_have_their_fields() -> None:
    after = told(HookPoint.AFTER_TOOL, tool="edit_file", outcome="error", result="no such text")
    assert (after["tool_name"], after["tool_response"]) == ("Edit", {"content": "no such text", "success": False})
    assert told(HookPoint.PROMPT_SUBMIT, input={"prompt": "hi"})["prompt"] == "hi"
    stop = told(HookPoint.STOP, answer="done", objections=1)
    assert (stop["stop_hook_active"], stop["last_assistant_message"]) == (True, "done")
    assert told(HookPoint.STOP)["stop_hook_active"] is False
    note = told(HookPoint.NOTIFICATION, kind="permission", text="bash ls")
    assert (note["message"], note["notification_type"]) == ("bash ls", "permission_prompt")
    task = told(HookPoint.TASK_CREATED, task={"subject": "s", "description": "d", "actor": "main"})
    assert (task["task_subject"], task["task_description"], "task_id" in task) == ("s", "d", False)


def test_an_answered_input_is_read_back() -> None:
    call: Json = {"path": "a.py", "content": "x"}
    same = tool_input("write_file", call, "/w")
    assert own_input("write_file", same | {"content": "y"}, call, "/w") == {"path": "a.py", "content": "y"}
    assert own_input("write_file", same | {"file_path": "/w/b.py"}, call, "/w") == {"path": "/w/b.py", "content": "x"}
    assert own_input("write_file", {"path": "b.py", "content": "y"}, call, "/w") == {"path": "b.py", "content": "y"}
    assert own_input("write_file", {**call, "file_path": "/w/b.py"}, call, "/w")["path"] == "/w/b.py"
    bash: Json = {"command": "ls", "background": True}
    assert own_input("bash", tool_input("bash", bash, "/w"), bash, "/w") == bash
