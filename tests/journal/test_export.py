"""A session as JSON without its secrets."""

import json
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.base.secrets import Secret
from harness.events import ToolStarted
from harness.journal import Record
from harness.journal.export import as_json, masked, save, without_secrets
from tests.journal.samples import session

KEY = "a-very-private-key-0123456789"
SHAPED = "sk-of-somebody-else-0123456789"


def test_the_document_has_the_session_its_totals_its_history_and_every_event() -> None:
    records = [Record(number, 100.0 + number, event) for number, event in enumerate(session(), 1)]
    document = json.loads(as_json(records))
    assert (document["session"]["started_at"], document["session"]["updated_at"]) == (101.0, records[-1].at)
    assert (document["session"]["turns"], document["session"]["interrupted"]) == (2, True)
    assert [message["role"] for message in document["messages"]] == ["user", "assistant", "user"]
    assert [(event["seq"], event["at"]) for event in document["events"]] == [(one.seq, one.at) for one in records]
    assert document["totals"] is None or document["totals"]["requests"]
    assert json.loads(as_json([]))["totals"] is None


def test_known_keys_and_what_has_the_shape_of_one_are_masked_everywhere() -> None:
    event = ToolStarted("c", "bash", f"echo {KEY}", {"command": f"echo {SHAPED}", "list": [KEY, 1, {"deep": KEY}]})
    text = as_json([Record(1, 1.0, event)], [Secret(KEY)])
    (clean,) = without_secrets([Record(1, 1.0, event)], [Secret(KEY)])
    for written in (text, str(clean.event), masked(f"{KEY} {SHAPED}", [Secret(KEY)])):
        assert KEY not in written
        assert SHAPED not in written
        assert "•••" in written or "\\u2022" in written
    assert isinstance(clean.event, ToolStarted)
    assert clean.event.input["list"][1] == 1


def test_an_export_is_written_whole_or_the_file_is_named(tmp_path: Path) -> None:
    save("{}\n", tmp_path / "session.json")
    assert (tmp_path / "session.json").read_text() == "{}\n"
    with pytest.raises(HarnessError, match=r"cannot be written: .*; name another file"):
        save("{}\n", tmp_path / "session.json" / "below.json")
