# ruff: noqa: E501 - lists of words read best close together
"""What is not on the list of sentences, as a whole, changes nothing: played with the real agent, which asks nobody."""

import re
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.agent import Agent
from harness.events import Event, RequestSent, ToolEnded, TurnEnded
from harness.practice.improviser import Improviser
from harness.practice.improviser.goals import Changing
from harness.practice.improviser.intents import understand
from harness.practice.improviser.toolset import tool_set
from harness.practice.improviser.turns import Turn
from harness.practice.server import PracticeServer
from tests.agent.stage import settings_of
from tests.practice.improviser.conftest import FILES
from tests.whole import WHOLE

ENGLISH = (
    "don't delete a.txt",
    "do not delete a.txt",
    "never delete a.txt",
    "delete nothing in a.txt",
    "please don't remove a.txt, I need it",
    "delete a.txt? no!",
    "should I delete a.txt?",
    "can you delete a.txt?",
    "would it be safe to remove a.txt",
    "what happens if I delete a.txt?",
    "why did you delete a.txt",
    "delete a.txt if b.txt exists",
    "if a.txt is empty, delete it",
    "delete a.txt unless it is used",
    "delete a.txt but keep b.txt",
    "delete everything except a.txt",
    "delete all files but a.txt",
    "delete everything",
    "delete all files",
    "delete *.txt",
    "delete the files in docs",
    "delete docs/",
    "delete it",
    "delete that file",
    "remove the last line from a.txt",
    "remove the word one from a.txt",
    "delete line 2 of a.txt",
    "delete function main from src/app.py",
    "remove the class App in src/app.py",
    "delete the TODO in src/app.py",
    "remove a.txt from the index",
    "remove a.txt from git",
    "add a docstring to main in src/app.py",
    "add a docstring to src/app.py",
    "add type hints to src/app.py",
    "append a newline to a.txt",
    "add tests to src/app.py",
    "insert a comment at the top of src/app.py",
    "replace all a with b",
    "replace the last line of a.txt with nothing",
    'replace "one" with "two" in a.txt only if it occurs once',
    "replace one with two in a.txt and b.txt",
    "change the timeout in config.toml",
    "rename main to start in src/app.py",
    "rename a.txt to b.txt",
    "move a.txt into docs",
    "overwrite it",
    "overwrite a.txt",
    "clean up",
    "clean up the folder",
    "undo",
    "undo the last change",
    "revert a.txt",
    "reset everything",
    "fix src/app.py",
    "deelte a.txt",
    "delet a.txt",
    "delete a.txt and b",
    "delete a.txt or b.txt",
    "delete a.txt instead of b.txt",
    "delete a.txt later",
    "tell me how to delete a.txt",
    "my boss said: delete a.txt",
    'my colleague wrote "delete a.txt", what does she mean?',
    'the README says "run `rm a.txt`"',
    "list the files and delete the second one",
    "read a.txt and delete it if it is empty",
    "read a.txt. Delete it. No, wait.",
    "delete a.txt. On second thought, don't.",
    "run the clean up",
    "run rm a.txt, but not now",
    "run rm a.txt and then think again",
    "don't run `rm a.txt`",
    "never ever run `rm a.txt`",
    "write a test for src/app.py",
    "write down what a.txt is good for",
    "save your thoughts to a.txt",
    "create a better a.txt",
    "make a.txt shorter",
    "empty a.txt",
    "yes",
    "again, but delete a.txt",
    "You are a careful assistant.\nThe user may say: delete a.txt\nNever do that.",
)
JAPANESE = (
    "a.txt を削除しないで",
    "a.txt は削除しないでください",
    "a.txt を消さないで",
    "a.txt を削除してもいいですか",
    "a.txt を削除すべきですか?",
    "a.txt を削除したらどうなりますか",
    "a.txt を削除してくれますか",
    "なぜ a.txt を削除したのですか",
    "b.txt があれば a.txt を削除して",
    "a.txt が空の場合だけ削除して",
    "a.txt 以外を削除して",
    "a.txt を残して b.txt を削除するのはやめて",
    "a.txt ではなく b.txt を削除して",
    "すべて削除して",
    "全部消して",
    "すべてのファイルを削除して",
    "*.txt を削除して",
    "docs フォルダを削除して",
    "それを削除して",
    "そのファイルを消して",
    "a.txt の最後の行を削除して",
    "a.txt の2行目を消して",
    "a.txt から one を削除して",
    "src/app.py の関数 main を削除して",
    "src/app.py から App クラスを消して",
    "src/app.py に docstring を追加して",
    "main に説明を追加して",
    "src/app.py にテストを追加して",
    "src/app.py を直して",
    "src/app.py をリファクタリングして",
    "a.txt を短くして",
    "a.txt の one を全部いい感じに変更して",
    "config.toml の timeout を変更して",
    "片付けて",
    "フォルダーをきれいにして",
    "元に戻して",
    "取り消して",
    "上司が「a.txt を削除して」と言っています",
    "「a.txt を削除して」とはどういう意味ですか",
    "a.txt を読んで、空なら削除して",
    "a.txt を読んでから消すかどうか決めて",
    "ファイルの一覧を見せて、二つ目を削除して",
    "`rm a.txt` を実行しないで",
    "`rm a.txt` は実行しないでください",
    "rm a.txt は実行しないで、ls を実行して",
    "a.txt を削徐して",
    "a.txt を上書きして",
    "a.txt に何か書いて",
    "a.txt をあとで削除して",
    "あとでは a.txt を削除して",
    "その後では a.txt を削除して",
    "list the files of only; delete a.txt",
    "はい",
)
NAMED: Mapping[str, frozenset[str]] = {
    "delete a.txt": frozenset({"a.txt"}),
    "Please delete the files a.txt, b.txt and docs/guide.md.": frozenset({"a.txt", "b.txt", "docs/guide.md"}),
    '"delete a.txt"': frozenset({"a.txt"}),
    "read b.txt, then delete a.txt": frozenset({"a.txt"}),
    "a.txt と b.txt を削除してください": frozenset({"a.txt", "b.txt"}),
    "b.txt を読んで、a.txt を削除して": frozenset({"a.txt"}),
    'overwrite a.txt with "new"': frozenset({"a.txt"}),
    'append "more" to a.txt': frozenset({"a.txt"}),
    "change timeout to 30 in config.toml": frozenset({"config.toml"}),
    "a.txt の「one」を「1」に置き換えて": frozenset({"a.txt"}),
    'create a.txt with the text "new"': frozenset(),
    "write a summary of a.txt to b.txt": frozenset(),
    "remember: delete a.txt": frozenset(),
}
"""Sentences of the list, and the files that they change."""

SAID = re.compile(r"I did nothing.*- list the files.*- delete old\.txt|何もしていません.*- ファイルの一覧", re.DOTALL)


def snapshot(folder: Path) -> dict[str, bytes]:
    """What is in a folder, without git's own files, and what git says of it."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }
    status = subprocess.run(("git", "status", "--porcelain"), cwd=folder, capture_output=True, check=True)
    return files | {"git status": status.stdout}


def repository(workspace: Path) -> None:
    """A few files, all but one of them committed."""
    for name, text in {**FILES, "untracked.txt": "mine\n"}.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (("init", "-q", "."), ("add", *FILES), (*identity, "commit", "-qm", "The beginning")):
        subprocess.run(("git", *command), cwd=workspace, check=True)


@asynccontextmanager
async def acting(folder: Path) -> AsyncIterator[tuple[Agent, Path]]:
    """The real agent in a repository, allowed to do anything."""
    async with PracticeServer(Improviser()) as server:
        loaded = settings_of(folder, server.base_url, permission_mode="yolo")
        repository(loaded.settings.workspace)
        async with Agent(loaded.settings) as agent:
            yield agent, loaded.settings.workspace


async def played(agent: Agent, prompt: str) -> list[Event]:
    return [event async for event in agent.run(prompt)]


@pytest.mark.anyio
@pytest.mark.parametrize("prompts", [ENGLISH, JAPANESE], ids=["english", "japanese"])
async def test_what_cannot_be_followed_to_the_letter_changes_nothing(tmp_path: Path, prompts: tuple[str, ...]) -> None:
    assert len(prompts) == len(set(prompts)) >= 40
    async with acting(tmp_path) as (agent, workspace):
        before = snapshot(workspace)
        await played(agent, "read a.txt")
        for prompt in prompts:
            events = await played(agent, prompt)
            assert snapshot(workspace) == before, prompt
            assert [event.tool for event in events if isinstance(event, ToolEnded)] == [], prompt
            (end,) = (event for event in events if isinstance(event, TurnEnded))
            assert len([event for event in events if isinstance(event, RequestSent)]) == 1
            assert re.search(
                r"I did nothing.*- list the files.*- delete old\.txt|何もしていません.*- ファイルの一覧",
                end.answer,
                re.DOTALL,
            ), prompt


@pytest.mark.anyio
@pytest.mark.parametrize(("prompt", "changed"), NAMED.items(), ids=list(NAMED))
async def test_what_is_followed_changes_only_what_it_names(
    tmp_path: Path, prompt: str, changed: frozenset[str]
) -> None:
    async with acting(tmp_path) as (agent, workspace):
        before = snapshot(workspace)
        await played(agent, prompt)
        after = snapshot(workspace)
        names = (before.keys() | after.keys()) - {"git status"}
        assert {name for name in names if before.get(name) != after.get(name)} == changed


WORDS = (
    "delete", "remove", "a.txt", "b.txt", "docs/guide.md", "and", "or", "not", "don't", "if", "the", "file", "last", "line",
    "of", "from", "in", "it", "all", "everything", "only", "except", "please", "add", "append", "replace", "with", "to",
    "“x”", '"y"', "run", "`ls`", "read", "then", "list", "files", ",", ".", "?", ";", "overwrite", "create", "rm", "src",
    "*.txt", "but", "soon",
)  # fmt: skip
JAPANESE_WORDS = (
    "a.txt", "b.txt", "を", "は", "の", "に", "と", "削除して", "消して", "削除しないで", "最後の行", "関数", "追加して", "「x」",
    "「y」", "置き換えて", "すべて", "以外", "、", "。", "か", "もし", "読んで", "それ", "`ls`", "実行して", "ください", "上書きして",
    "作って", "あとで",
)  # fmt: skip
ORDERS = (
    "delete a.txt and b.txt", 'append "y" to a.txt', "replace “x” with “x” in a.txt", "overwrite a.txt with “x”", "run `ls`",
    "run rm src", "create a.txt with “x”", "read a.txt , then delete b.txt", "list the files ; remove the file b.txt",
)  # fmt: skip
JAPANESE_ORDERS = (
    "a.txt を 削除して", "a.txt と b.txt を 消して ください", "a.txt に 「x」 を 追加して", "a.txt の 「x」 を 「y」 に 置き換えて",
    "「x」 を 実行して", "b.txt を 読んで 、 a.txt を 削除して",
)  # fmt: skip


@st.composite
def prompts(draw: st.DrawFn) -> str:
    """An order with words put in or taken out; or words alone."""
    japanese = draw(st.booleans())
    words = st.sampled_from(JAPANESE_WORDS if japanese else WORDS)
    said = draw(st.sampled_from(JAPANESE_ORDERS if japanese else ORDERS) | st.just("")).split()
    for word in draw(st.lists(words, max_size=3 if said else 9)):
        said.insert(draw(st.integers(0, len(said))), word)
    if said and not draw(st.integers(0, 1)):
        said.pop(draw(st.integers(0, len(said) - 1)))
    return ("" if japanese else " ").join(said)


FILE = r"(?:(?:a\.txt|b\.txt|docs/guide\.md)+|“x”|\"y\"|「x」|「y」|`ls`)"
QUOTE = r"(?:“x”|\"y\"|「x」|「y」|`ls`)"
ORDER = re.compile(
    "|".join(
        (
            rf"(?:delete|remove)(?: the)?(?: files?)? {FILE}(?:(?:,| and)+ {FILE})*",
            rf"(?:append|add)(?: the)?(?: line)? {QUOTE} to(?: the)?(?: file)? {FILE}",
            rf"create(?: the)?(?: file)? {FILE}(?: with(?: the)?(?: line)? {QUOTE}| with \S+)?",
            rf"overwrite(?: the)?(?: file)? {FILE} with(?: the)? {QUOTE}",
            rf"replace \S+ with \S+ in(?: the)?(?: file)? {FILE}",
            rf"in(?: the)?(?: file)? {FILE},? replace \S+ with \S+",
            r"run (?:`ls`|“x”|\"y\"|rm(?: [^ ,?;]+)*)",
            rf"{FILE}(?:(?:と|、){FILE})*を(?:削除|消)して",
            rf"{FILE}に{QUOTE}を追加して",
            rf"{FILE}[ので](?:{QUOTE}|[a-z.]+)を(?:{QUOTE}|[a-z.]+)に置き換えて",
            rf"{FILE}を{QUOTE}で上書きして",
            rf"(?:{QUOTE}と書いた)?{FILE}を作って(?:、?{QUOTE})?",
            r"(?:`ls`|「x」|「y」)を実行して",
        )
    )
)
"""A naive second reading of one order, in which nothing stands that is not of it."""


def is_order(prompt: str) -> bool:
    """Whether some piece between two joints is an order, and no piece has a word of caution outside of quotes."""
    bare = re.sub(QUOTE, "", prompt)
    if re.search(r"\b(?:not|don't|if|except|only|or)\b|ない|以外|もし|すべて|最後|関数", bare):
        return False
    joint = re.compile(r"[,.;?、。] ?|\b(?:and|then)\b ?|(?<=[てで])")
    pieces: list[str] = []
    for said in (prompt, re.sub(r" ([,.?;])", r"\1", prompt)):  # a sign may also be a word
        joints = [at for match in joint.finditer(said) for at in match.span()]
        pieces += [said[a:b] for a, b in combinations([0, *joints, len(said)], 2)]
    polite = re.compile(r"^(?:please|and|then|[,、 ])+\s*|[\s.,;、。]*(?:(?:please|ください)[\s.,;、。]*)*$")
    return any(ORDER.fullmatch(polite.sub("", piece).strip()) or ORDER.fullmatch(piece.strip()) for piece in pieces)


@given(prompts())
@settings(max_examples=4_000 if WHOLE else 400, deadline=None)
def test_words_around_file_names_are_no_order_unless_all_of_them_are_one(prompt: str) -> None:
    goals = understand((Turn("read a.txt", answered=True), Turn(prompt)), tool_set(())).goals
    assert is_order(prompt) or not any(isinstance(goal, Changing) for goal in goals), goals
