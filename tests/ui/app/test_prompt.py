"""The keys of the prompt, in a small app."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot

from harness.ui.app.prompt import PromptArea
from harness.ui.app.prompt_history import PromptHistory
from harness.ui.app.prompt_text import PromptText
from tests.media.files import png
from tests.ui.app.host import Host, paste, type_keys, type_text

pytestmark = pytest.mark.anyio
SIZES = pytest.mark.parametrize("size", [(60, 20), (120, 40)], ids=["small", "large"])
Size = tuple[int, int]


async def shows(pilot: Pilot[None], app: Host, text: str) -> None:
    """Wait until a text is shown: what a path leads to is looked up in a thread."""
    async with asyncio.timeout(60):
        while app.shown != text:
            await pilot.pause(0.01)


# ── typing and submitting ───────────────────────────────────────────────────────────────────────


async def test_enter_submits_and_leaves_an_empty_prompt() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "hello")
        await pilot.press("enter")
        await pilot.pause()
        assert app.submitted == ["hello"]
        assert app.prompt.empty
        assert app.prompt.text == app.shown == ""


async def test_a_blank_prompt_is_not_submitted() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("enter", "space", "enter")
        assert app.submitted == []


async def test_a_line_break_is_typed_with_any_of_four_keys() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        for key in ("ctrl+j", "shift+enter", "alt+enter", "shift+\r"):
            await type_keys(pilot, "a", key, "b", "enter")
            assert app.submitted.pop() == "a\nb", key
        assert app.submitted == []


async def test_while_a_turn_runs_alt_enter_submits_for_a_turn_of_its_own() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        app.prompt.turn_runs = lambda: True
        for key, own_turn in (("alt+enter", True), ("\r", True), ("enter", False)):
            await type_keys(pilot, "a", key)
            await pilot.pause()
            assert (app.submitted.pop(), app.own_turn) == ("a", own_turn), key


async def test_a_backslash_before_enter_continues_with_the_next_line() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("a", "backslash", "enter", "b")
        assert app.submitted == []
        assert app.shown == "a\nb"


@SIZES
async def test_the_prompt_grows_with_its_text_up_to_eight_rows(size: Size) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        text = app.query_one(PromptText)
        heights = [text.size.height]
        for _ in range(9):
            await pilot.press("ctrl+j")
            heights.append(text.size.height)
        assert heights == [1, 2, 3, 4, 5, 6, 7, 8, 8, 8]
        app.prompt.clear()
        await pilot.pause()
        assert text.size.height == 1


async def test_nothing_ticks_between_keys() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)):
        assert not app.query_one(PromptText).cursor_blink


async def test_keys_typed_in_one_burst_work_in_their_order() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_keys(pilot, "a", "b", "backspace", "c", "ctrl+a", "d", "enter", "e")
        assert app.submitted == ["dac"]
        assert app.shown == "e"


READLINE: Mapping[tuple[str, ...], str] = {
    ("ctrl+u",): "",
    ("ctrl+w",): "one ",
    ("ctrl+w", "ctrl+w"): "",
    ("ctrl+a", "X"): "Xone two,three",
    ("ctrl+a", "ctrl+e", "X"): "one two,threeX",
    ("ctrl+a", "ctrl+k"): "",
    ("alt+b", "ctrl+k"): "one two,",
    ("ctrl+w", "ctrl+underscore"): "one two,three",
    ("ctrl+w", "ctrl+y", "ctrl+y"): "one two,threetwo,three",
    ("ctrl+u", "x", "ctrl+y"): "xone two,three",
    ("home", "alt+d", "end", "ctrl+y"): " two,threeone",
    ("home", "ctrl+k", "ctrl+y", "ctrl+underscore"): "",
}
"""The text left after some keys."""


async def test_keys_of_readline() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        for keys, left in READLINE.items():
            await type_text(pilot, "one two,three")
            await type_keys(pilot, *keys)
            assert app.shown == left, keys
            app.prompt.clear()


async def test_keys_of_the_app_are_left_to_it() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_keys(pilot, "x", "left")
        for key in ("ctrl+c", "ctrl+d", "ctrl+z", "escape", "shift+tab", "ctrl+o", "f1", "f6", "pageup"):
            await type_keys(pilot, key)
            assert app.left_to_the_app.pop() == key
            assert app.left_to_the_app == []
            assert app.shown == "x"


# ── shortcuts ───────────────────────────────────────────────────────────────────────────────────


async def test_a_shortcut_is_asked_while_there_is_no_text() -> None:
    asked: list[str] = []

    def shortcut(key: str) -> bool:
        asked.append(key)
        return key == "r"

    app = Host(shortcut=shortcut)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("r", "m", "r", "enter", "escape")
        assert asked == ["r", "m", "escape"]
        assert app.submitted == ["mr"]


async def test_no_shortcut_is_asked_while_the_history_is_searched() -> None:
    app = Host(shortcut=lambda key: key == "r")
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("ctrl+r", "r")
        assert app.shown == "r"
        assert app.prompt.searching


# ── modes ───────────────────────────────────────────────────────────────────────────────────────


MEANT: Sequence[tuple[str, str, str, str]] = (
    ("hello", "prompt", "▸", "hello"),
    ("!ls", "shell", "!", "!ls"),
    ("！ls", "shell", "!", "!ls"),
    ("/clear", "command", "/", "/clear"),
    ("／clear", "command", "/", "/clear"),
    ("//etc", "prompt", "▸", "//etc"),
    ("／／etc", "prompt", "▸", "//etc"),
    ("a /b !c", "prompt", "▸", "a /b !c"),
)
"""Text, mode, sign, and submitted text."""


async def test_the_sign_shows_what_the_text_is_meant_as() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        for text, mode, sign, submitted in MEANT:
            await type_text(pilot, text)
            assert (app.prompt.prompt_mode, app.sign) == (mode, sign), text
            await type_keys(pilot, "enter")
            assert app.submitted.pop() == submitted
            assert (app.prompt.prompt_mode, app.sign, app.submitted) == ("prompt", "▸", [])


# ── wide characters ─────────────────────────────────────────────────────────────────────────────


@SIZES
async def test_wide_characters_wrap_and_the_terminal_cursor_is_behind_them(size: Size) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        await type_text(pilot, "天気予報")
        text = app.query_one(PromptText)
        assert app.cursor_position == text.region.offset + Offset(8, 0)
        await type_text(pilot, "あ" * (size[0] // 2))
        await pilot.pause()
        assert text.size.height == 2
        await pilot.press("enter")
        assert app.submitted == ["天気予報" + "あ" * (size[0] // 2)]


@SIZES
async def test_the_terminal_cursor_moves_along_when_a_list_pushes_the_text_down(size: Size) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        await type_text(pilot, "/")
        text = app.query_one(PromptText)
        assert text.region.y > 1
        assert app.cursor_position == text.region.offset + Offset(1, 0)
        await pilot.press("escape")
        assert app.cursor_position == text.region.offset + Offset(1, 0) == Offset(3, 1)


# ── pastes ──────────────────────────────────────────────────────────────────────────────────────


async def test_a_short_paste_is_typed_and_never_submits() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await paste(pilot, "one\r\ntwo\rthree\x1b[31m\x00\n")
        assert app.shown == "one\ntwo\nthree[31m\n"
        assert app.submitted == []


async def test_a_long_paste_is_folded_and_submitted_whole() -> None:
    app = Host()
    pasted = "\n".join(f"line {number}" for number in range(214))
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "see ")
        await paste(pilot, pasted)
        assert app.shown == "see [pasted 214 lines #1]"
        assert app.prompt.text == f"see {pasted}"
        await paste(pilot, "x" * 2_001)
        assert app.shown == "see [pasted 214 lines #1][pasted 1 line #2]"
        await pilot.press("enter")
        assert app.submitted == [f"see {pasted}{'x' * 2_001}"]


async def test_a_placeholder_that_was_deleted_and_typed_again_is_only_text() -> None:
    app = Host()
    async with app.run_test(size=(120, 40)) as pilot:
        await paste(pilot, "\n" * 9)
        await pilot.press("left", "backspace", "1")
        assert app.prompt.text == app.shown == "[pasted 10 lines #1]"
        await pilot.press("ctrl+underscore", "ctrl+underscore")
        assert app.shown == "[pasted 10 lines #1]"
        assert app.prompt.text == "\n" * 9


async def test_a_pasted_path_of_an_image_becomes_an_attachment_that_one_key_deletes(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(png(80, 60))
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "see ")
        await paste(pilot, f"'{tmp_path}/a b.png'")
        await shows(pilot, app, "see [image 1: a b.png 80×60] ")
        assert app.prompt.text == f'see @"{tmp_path}/a b.png" '
        await pilot.press("backspace", "backspace")
        assert app.prompt.text == app.shown == "see "
        await pilot.press("ctrl+underscore")
        assert app.prompt.text == f'see @"{tmp_path}/a b.png" '
        await pilot.press("enter")
        assert app.submitted == [f'see @"{tmp_path}/a b.png"']


async def test_the_sign_shows_what_a_folded_paste_will_be_taken_for() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await paste(pilot, "!ls\n" * 20)
        assert app.shown == "[pasted 21 lines #1]"
        assert (app.prompt.prompt_mode, app.sign) == ("shell", "!")


async def test_a_paste_takes_the_place_of_what_is_selected() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "one two")
        await pilot.press("shift+left", "shift+left", "shift+left")
        await paste(pilot, "three")
        assert app.shown == "one three"


# ── history ─────────────────────────────────────────────────────────────────────────────────────


async def test_up_and_down_walk_the_history_and_keep_the_draft() -> None:
    history = PromptHistory(None)
    for prompt in ("first", "second\nof two lines", "/help"):
        history.add(prompt)
    app = Host(history)
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "draft")
        shown = []
        for key in ("up", "up", "up", "up", "up", "down", "down", "down", "down", "down"):
            await pilot.press(key)
            shown.append(app.shown)
        two = "second\nof two lines"
        assert shown == ["/help", two, two, "first", "first", two, two and "/help", "draft", "draft", "draft"]


async def test_the_draft_comes_back_with_its_pastes() -> None:
    history = PromptHistory(None)
    history.add("earlier")
    app = Host(history)
    async with app.run_test(size=(60, 20)) as pilot:
        await paste(pilot, "y\n" * 20)
        await pilot.press("up", "down")
        assert app.prompt.text == "y\n" * 20


async def test_a_prompt_of_the_history_that_was_changed_is_the_new_draft() -> None:
    history = PromptHistory(None)
    history.add("older")
    history.add("newer")
    app = Host(history)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("up", "up", "X", "up")
        assert app.shown == "newer"
        await pilot.press("down")
        assert app.shown == "olderX"


async def test_two_prompts_share_a_history_file(tmp_path: Path) -> None:
    first = Host(PromptHistory(tmp_path / "history"))
    async with first.run_test(size=(60, 20)) as pilot:
        await pilot.press("a", "ctrl+j", "b", "enter")
    second = Host(PromptHistory(tmp_path / "history"))
    async with second.run_test(size=(60, 20)) as pilot:
        await pilot.press("up")
        assert second.shown == "a\nb"


async def test_a_history_that_cannot_be_written_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "history").mkdir()
    app = Host(PromptHistory(tmp_path / "history"))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("a", "enter")
        await pilot.pause()
        assert len(app.refused) == 1
        await pilot.press("b", "enter", "up")
        await pilot.pause()
        assert app.submitted == ["a", "b"]
        assert app.shown == "b"
        [refused] = app.refused
        assert str(tmp_path / "history") in refused


# ── search ──────────────────────────────────────────────────────────────────────────────────────


def three_prompts() -> PromptHistory:
    history = PromptHistory(None)
    for prompt in ("fix the parser", "read 天気予報", "test the Parser"):
        history.add(prompt)
    return history


async def test_the_history_is_searched_and_the_match_taken() -> None:
    app = Host(three_prompts())
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "draft")
        await pilot.press("ctrl+r")
        assert (app.sign, app.shown) == ("?", "")
        assert app.offered == ["test the Parser", "read 天気予報", "fix the parser"]
        await type_text(pilot, "parser")
        assert app.offered == ["test the Parser", "fix the parser"]
        assert app.prompt.text == "draft"
        await pilot.press("ctrl+r", "enter")
        assert app.shown == "fix the parser"
        assert (app.sign, app.offered, app.submitted) == ("▸", [], [])


async def test_a_search_is_left_with_the_draft_as_it_was() -> None:
    app = Host(three_prompts())
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "draft")
        await pilot.press("left", "left", "ctrl+r", "天", "escape", "X")
        assert app.shown == "draXft"
        assert app.left_to_the_app == []


async def test_a_search_that_finds_nothing_takes_nothing() -> None:
    app = Host(three_prompts())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("ctrl+r", "z", "z", "enter", "ctrl+r")
        assert app.prompt.searching
        await pilot.press("escape")
        assert app.prompt.empty


async def test_clearing_ends_a_search() -> None:
    app = Host(three_prompts())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("ctrl+r", "x")
        app.prompt.clear()
        await pilot.pause()
        assert (app.sign, app.shown, app.offered) == ("▸", "", [])


# ── completion ──────────────────────────────────────────────────────────────────────────────────


@SIZES
async def test_a_command_is_completed_and_then_its_argument(size: Size) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        for key in ("tab", "enter"):
            await type_text(pilot, "/mo")
            assert app.offered == ["/model"]
            await pilot.press(key)
            assert app.shown == "/model "
            assert app.offered == ["opus-5", "haiku-4"]
            await pilot.press("down", key, "enter")
            assert app.submitted.pop() == "/model haiku-4", key


async def test_a_command_that_is_complete_is_submitted_by_one_enter() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "/help")
        await pilot.press("enter")
        assert app.submitted == ["/help"]


async def test_escape_closes_the_list_and_nothing_else() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "@s")
        assert app.offered
        await pilot.press("escape")
        assert (app.offered, app.left_to_the_app) == ([], [])
        await type_text(pilot, "rc")
        assert app.offered == []
        await pilot.press("tab")
        assert app.offered[0] == "src/"
        await pilot.press("escape", "escape")
        assert app.left_to_the_app == ["escape"]


async def test_files_are_completed_folder_by_folder_and_names_with_spaces_quoted() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "read @doc")
        await pilot.press("tab")
        assert app.shown == "read @docs/"
        await type_text(pilot, "a")
        await pilot.press("tab", "x")
        assert app.shown == 'read @"docs/a b.md" x'


async def test_files_are_completed_behind_wide_punctuation_and_with_a_wide_sign() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "読んで、＠予報")
        assert app.offered == ["天気/予報.md"]
        await pilot.press("tab")
        assert app.shown == "読んで、@天気/予報.md "


async def test_a_list_is_opened_anew_when_other_files_are_known() -> None:
    files: list[str] = []
    app = Host(files=files)
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "@n")
        assert app.offered == []
        files.append("new.md")
        app.prompt.refresh_completion()
        assert app.offered == ["new.md"]


async def test_new_files_keep_what_is_selected_and_open_nothing_that_is_not_wanted() -> None:
    files = ["a.md", "b.md"]
    app = Host(files=files)
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "@")
        await pilot.press("down")
        files.insert(0, "0.md")
        app.prompt.refresh_completion()
        await pilot.press("tab")
        assert app.shown == "@b.md "
        app.prompt.load("@")
        app.prompt.refresh_completion()
        assert app.offered == []


async def test_an_entry_of_the_history_opens_no_list() -> None:
    history = PromptHistory(None)
    history.add("older")
    history.add("/mod")
    app = Host(history)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("up")
        assert app.offered == []
        await pilot.press("up")
        assert app.shown == "older"


@SIZES
async def test_the_list_fits_the_screen_and_spells_out_control_characters(size: Size) -> None:
    app = Host(files=[f"{number:02}\x1b[31m天気予報{'長い' * 40}.md" for number in range(40)])
    async with app.run_test(size=size) as pilot:
        await type_text(pilot, "@")
        rows = app.screen.query_one("CandidateList").size.height
        assert rows == min(12, size[1] // 3)
        for _ in range(rows + 3):
            await pilot.press("down")
        screen = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert f"{rows + 3:02}\\x1b[31m天気" in screen
        assert "\x1b" not in screen


# ── the person's editor ─────────────────────────────────────────────────────────────────────────


def editor(folder: Path, script: str) -> str:
    program = folder / "editor"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    return str(program)


async def test_the_draft_is_edited_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, 'printf "\\nsecond\\n" >> "$1"'))
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "first")
        await pilot.press("ctrl+g")
        await pilot.pause()
        assert app.suspensions == 1
        assert app.shown == "first\nsecond"


async def test_a_draft_that_the_editor_left_as_it_was_stays_folded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, "exit 0"))
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await paste(pilot, "line\n" * 20 + "end")
        await pilot.press("ctrl+g")
        await pilot.pause()
        assert app.suspensions == 1
        assert app.shown == "[pasted 21 lines #1]"


@pytest.mark.parametrize("script", [None, "exit 3", 'rm "$1"'], ids=["missing", "failing", "deleting"])
async def test_an_editor_that_fails_is_reported_and_the_draft_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, script) if script else str(tmp_path / "none"))
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "draft")
        await pilot.press("ctrl+g")
        await pilot.pause()
        assert app.shown == "draft"
        assert len(app.refused) == 1


class Plain(App[None]):
    """An app whose terminal cannot be handed to an editor."""

    def __init__(self, prompt: PromptArea) -> None:
        super().__init__()
        self.prompt = prompt
        self.refused: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.prompt

    def on_prompt_area_refused(self, message: PromptArea.Refused) -> None:
        self.refused.append(message.text)


async def test_where_no_editor_can_be_opened_that_is_reported() -> None:
    app = Plain(Host().prompt)
    async with app.run_test(size=(60, 20)) as pilot:
        app.prompt.focus()
        await pilot.press("x", "ctrl+g")
        await pilot.pause()
        assert len(app.refused) == 1
        assert app.prompt.text == "x"


# ── from outside ────────────────────────────────────────────────────────────────────────────────


async def test_a_prompt_that_is_disabled_takes_no_key_and_keeps_its_text() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        app.prompt.load("kept")
        app.prompt.disabled = True
        await pilot.press("x", "enter")
        assert (app.shown, app.submitted) == ("kept", [])
        app.prompt.disabled = False
        app.prompt.focus()
        await pilot.press("x")
        assert app.prompt.text == "keptx"


async def test_every_other_text_has_a_message() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("a", "b", "left")
        app.prompt.load("c")
        await pilot.pause()
        assert app.changed == ["a", "ab", "c"]


async def test_a_command_with_a_wide_slash_is_submitted_by_one_enter() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "／help")
        await pilot.press("enter")
        assert app.submitted == ["/help"]
