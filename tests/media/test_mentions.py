"""Files in prompts and in pastes."""

import shlex
from pathlib import PurePosixPath
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.media.mentions import mention, mentions, pasted_paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("describe @a.png", ("a.png",)),
        ("@a.png", ("a.png",)),
        ("compare @a.png, @b/c.jpg and @a.png.", ("a.png", "b/c.jpg")),
        ('what is in @"my pictures/a b.png"?', ("my pictures/a b.png",)),
        ("(@~/x.pdf)", ("~/x.pdf",)),
        ("write to me@example.png", ()),
        ("＠図.pngを見て", ("図.pngを見て",)),
        ("図を見て。@図.png", ("図.png",)),
        ("@", ()),
        ('@""', ()),
        ("a @ b", ()),
    ],
)
def test_a_mention_is_a_path_behind_an_at_sign(text: str, paths: tuple[str, ...]) -> None:
    assert mentions(text) == paths


NAMES = st.text(st.characters(exclude_characters='"\n\r\0/', codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)
PATHS = st.lists(st.one_of(NAMES, st.just("with blank"), st.just("it's"), st.just("a,")), min_size=1, max_size=3).map(
    lambda parts: "/" + "/".join(parts)
)


@given(PATHS)
def test_what_is_written_as_a_mention_is_read_as_one(path: str) -> None:
    assert mentions(f"look at {mention(path)} now") == (path,)


@pytest.mark.parametrize(
    "written",
    [
        str,
        shlex.quote,
        lambda path: f'"{path}"',
        lambda path: path.replace(" ", "\\ "),
        lambda path: f"file://{quote(path)}",
    ],
)
@pytest.mark.parametrize("path", ["/tmp/a.png", "/home/me/My Pictures/a (1).png", "/tmp/図 1.png", "~/a.png"])
def test_terminals_write_a_dragged_file_in_these_ways(written: object, path: str) -> None:
    assert callable(written)
    text = written(path)
    if path.startswith("~") and text.startswith("file://"):
        pytest.skip("a file URL is absolute")
    for around in (text, f"{text} ", f"{text}\n"):
        assert pasted_paths(around) == (path,)


def test_several_files_may_be_dragged_at_once() -> None:
    assert pasted_paths("/a.png /b.png") == ("/a.png", "/b.png")
    assert pasted_paths("'/a b.png' '/c d.png' ") == ("/a b.png", "/c d.png")
    assert pasted_paths("/a\\ b.png ~/c.png") == ("/a b.png", "~/c.png")
    assert pasted_paths("file:///a%20b.png\r\nfile://localhost/c.png\r\n") == ("/a b.png", "/c.png")


@pytest.mark.parametrize(
    "text",
    ["", "  ", "hello", "a.png", "see /a.png", "https://x.org/a.png", "file://host/a.png", "'/a", "/a\nand b"],
)
def test_any_other_paste_is_text(text: str) -> None:
    assert pasted_paths(text) == ()


@given(st.text())
def test_a_paste_of_anything_gives_absolute_paths_or_none(text: str) -> None:
    assert all(PurePosixPath(path).is_absolute() or path.startswith("~/") for path in pasted_paths(text))
