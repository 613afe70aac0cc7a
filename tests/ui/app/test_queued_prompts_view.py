"""The rows of what waits above the prompt."""

from harness.ui.app.queued_prompts_view import with_note
from harness.ui.lines.queue import TAKES_BACK

WHERE = "joins after npm test, 0:02"


def test_a_text_that_has_no_room_beside_its_note_loses_the_key_first() -> None:
    note = f"{WHERE} · {TAKES_BACK}"
    assert with_note("also x", note, 78) == f"{'also x':<34}{note}"
    assert with_note("also cover the default of every call", note, 78).endswith(f"every call{' ' * 14}  {WHERE}")
    assert with_note("y" * 90, note, 78) == f"{'y' * 49}…  {WHERE}"
