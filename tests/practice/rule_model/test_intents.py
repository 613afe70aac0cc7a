# ruff: noqa: E501 - a row is a sentence and its result
"""Every documented sentence, in both languages: its calls and the report of their results."""

import pytest

from harness.practice.rule_model.intents import INTENTS
from tests.practice.rule_model.requests import Talk

FILE = "     1\t# Demo\n     2\t\n     3\tmilk 牛乳\n     4\t## Use"
RESULTS = {
    "glob": ("README.md\nsrc/app.py",),
    "read_file": (FILE,),
    "grep": ("a.txt:3:TODO x\nb.txt:1:TODO",),
    "recall": ("The user memory tabs of the person:\nI prefer tabs",),
    "ask_user": ("The user answered: red",),
    "web_search": ("Seal\nhttps://x.example/seal\nSeals rest.",),
    "web_fetch": ("Seal\nhttps://x.example/seal\nSeals weigh 100 kg.",),
}
GLOB = ("glob", {"pattern": "**/*"})
README = ("read_file", {"path": "README.md"})
NOTES = ("read_file", {"path": "notes.txt"})
ROWS = {
    "List the files": (GLOB, "2 files", "2 個のファイル"),
    "Read files": (README, "has 4 lines", "4 行あります"),
    "The headings of a file": (README, "- Demo\n  - Use", "- Demo\n  - Use"),
    "Find text in files": (("grep", {"pattern": "TODO"}), "2 lines of 2 files", "2 個のファイルの 2 行"),
    "Create a file": (("write_file", {"path": "hello.py", "content": 'print("Hello World")\n'}), "hello.py is written (1 line)", "hello.py を作成しました"),
    "Replace text in a file": (("edit_file", {"path": "notes.txt", "old_string": "milk", "new_string": "tea"}), "is now “tea” (1 place)", "置き換えました(1 か所)"),
    "Run a command; in quotes, any command": (("bash", {"command": "python3 --version"}), "succeeded", "成功しました"),
    "Give a task to subagents": (("agent", {"prompt": "summarise B.md", "description": "summarise B.md (2 of 2)"}), "2 of 2 agents answered", "2 個が回答しました"),
    "Find files by name": (("glob", {"pattern": "**/*.md"}), "I found 2 files", "2 個です"),
    "Count the lines of files": (("read_file", {"path": "notes.md"}), "notes.md has 4 lines", "notes.md は 4 行です"),
    "Summarise files": (README, "Sections: Demo, Use", "見出し: Demo, Use"),
    "What the project is": (GLOB, "src/app.py", "src/app.py"),
    "List background commands": (("list_background", {}), "In the background", "バックグラウンドの状態"),
    "Show the output of a background command": (("read_background", {"id": "b1"}), "b1 wrote", "b1 の出力"),
    "Stop a background command": (("kill_background", {"id": "b1"}), "done", "done"),
    "Remember a fact": (("remember", {"name": "prefer tabs", "description": "I prefer tabs", "type": "feedback", "text": "I prefer tabs"}), "I will remember: I prefer tabs", "覚えました: タブが好きだ"),
    "Show what is remembered": (("recall", {"query": "tabs"}), "I prefer tabs", "I prefer tabs"),
    "Forget what is remembered": (("forget", {"name": "tabs"}), "tabs is forgotten", "tabs を忘れました"),
    "List the skills": (("skill", {}), "done", "done"),
    "Read a skill": (("skill", {"name": "review"}), "The skill review says", "スキル review の内容"),
    "Be asked a question; after a colon, two to four answers": (("ask_user", {"question": "Which colour to use?", "options": [{"label": "red"}, {"label": "green"}, {"label": "blue"}]}), "Your answer: red", "回答: red"),
    "Search the web": (("web_fetch", {"url": "https://x.example/seal"}), "Seals weigh 100 kg.", "Seals weigh 100 kg."),
    "Read a web page": (("web_fetch", {"url": "https://wiki.practice.example/rain"}), "Seals weigh 100 kg.", "Seals weigh 100 kg."),
    "Call a tool of your own": (("weather", {"city": "Oslo"}), "weather answered", "weather の結果"),
    "Show this list": (None, "- search the web for harbour seals", "- ウェブで harbour seals を検索して"),
    "Say hello, thanks or goodbye": (None, "Hello!", "こんにちは。"),
}  # fmt: skip


def test_every_intent_is_in_the_table() -> None:
    assert set(ROWS) == {intent.name[0] for intent in INTENTS}


@pytest.mark.parametrize("intent", INTENTS, ids=lambda intent: intent.name[0])
def test_the_examples_of_an_intent(intent) -> None:  # type: ignore[no-untyped-def]
    call, *reports = ROWS[intent.name[0]]
    talks = Talk(RESULTS), Talk(RESULTS)
    for talk, example, report in zip(talks, intent.example, reports, strict=True):
        assert str(report) in talk.ask(example)
    assert (talks[0].calls[-1] if talks[0].calls else None) == call
    assert [name for name, _ in talks[0].calls] == [name for name, _ in talks[1].calls]


@pytest.mark.parametrize(
    ("prompt", "calls"),
    [
        ("Please show me the files in src.", [("glob", {"pattern": "**/*", "path": "src"})]),
        ("README.mdの見出しを教えてください。", [README]),
        ("what is in notes.txt?", [NOTES]),
        ("read a.txt and b.txt", [("read_file", {"path": "a.txt"}), ("read_file", {"path": "b.txt"})]),
        ("read à/marées.txt", [("read_file", {"path": "à/marées.txt"})]),
        ("read README", [README]),
        ("find “two words” in src", [("grep", {"pattern": "two words", "path": "src"})]),
        ("find TODO in all *.py files", [("grep", {"pattern": "TODO", "glob": "*.py"})]),
        ("how many files are there?", [GLOB]),
        ("create notes.txt with the text “buy milk”", [("glob", {"pattern": "notes.txt"}), ("write_file", {"path": "notes.txt", "content": "buy milk\n"})]),
        ("「牛乳」と書いた notes.txt を作って", [("glob", {"pattern": "notes.txt"}), ("write_file", {"path": "notes.txt", "content": "牛乳\n"})]),
        ("make greet.py", [("glob", {"pattern": "greet.py"}), ("write_file", {"path": "greet.py", "content": ""})]),
        ("create a.sh that says Hi and run it", [("glob", {"pattern": "a.sh"}), ("write_file", {"path": "a.sh", "content": "printf '%s\\n' Hi\n"}), ("bash", {"command": "bash a.sh"})]),
        ("run git push --force", [("bash", {"command": "git push --force"})]),
        ("run `sleep 90; echo done` in the background", [("bash", {"command": "sleep 90; echo done", "background": True})]),
        ("バックグラウンドで make を実行して", [("bash", {"command": "make", "background": True})]),
        ("git status", [("bash", {"command": "git status"})]),
        ("use an agent in the background to list the files", [("agent", {"prompt": "list the files", "description": "list the files", "background": True})]),
        ("ask a2 to go on", [("agent", {"prompt": "go on", "description": "go on", "agent": "a2"})]),
        ("what is the weather in Oslo?", [("weather", {"city": "Oslo"})]),
        ("ask me what my name is", [("ask_user", {"question": "What my name is?"})]),
        ("read a.txt, then list the files", [("read_file", {"path": "a.txt"}), GLOB]),
        ("- read a.txt\n- run make", [("read_file", {"path": "a.txt"}), ("bash", {"command": "make"})]),
        ("a.txt を読んで、ファイルの一覧を見せて", [("read_file", {"path": "a.txt"}), GLOB]),
    ],
)  # fmt: skip
def test_other_forms(prompt: str, calls: list[object]) -> None:
    talk = Talk(RESULTS)
    talk.ask(prompt)
    assert talk.calls == calls


@pytest.mark.parametrize(
    ("found", "english", "japanese"),
    [
        ("No file matches **/*.", "There are no files in this folder.", "このフォルダーにファイルはありません。"),
        (
            "a.txt",
            "There is 1 file in this folder:\n\n- a.txt",
            "このフォルダーには 1 個のファイルがあります。\n\n- a.txt",
        ),
    ],
)
def test_a_folder_with_no_file_and_with_one(found: str, english: str, japanese: str) -> None:
    for prompt, answer in (("list the files", english), ("ファイルの一覧を見せて", japanese)):
        assert Talk({"glob": (found,)}).ask(prompt).endswith(answer)


@pytest.mark.parametrize(
    "prompt",
    [
        "what is love?",
        "don't read a.txt",
        "read a.txt unless it is large",
        "read the last line of a.txt",
        "run `rm a.txt`?",
        "list the files and sing",
        "delete everything",
        "use telescope with Mars",
        "remember",
        "",
        "x" * 5_000,
    ],
)
def test_anything_else_is_refused_and_nothing_is_done(prompt: str) -> None:
    talk = Talk(RESULTS)
    answer = talk.ask(prompt)
    assert talk.calls == []
    assert "not an AI" in answer
    assert "- list the files" in answer
    assert "ANTHROPIC_API_KEY" in answer


def test_a_refusal_is_in_the_language_of_the_prompt() -> None:
    answer = Talk().ask("猫について詩を書いてみてほしい")
    assert "練習用モデル" in answer
    assert "- ファイルの一覧を見せて" in answer


def test_a_file_that_exists_is_not_created_again() -> None:
    talk = Talk({"glob": ("a.txt",)})
    assert "exists already" in talk.ask("create a.txt with hello")
    assert [name for name, _ in talk.calls] == ["glob"]


def test_what_occurs_several_times_is_replaced_by_writing_the_file() -> None:
    talk = Talk({"read_file": ("     1\ta b\n     2\ta",)})
    assert "(2 places)" in talk.ask("replace a with c in x.txt")
    assert talk.calls[-1] == ("write_file", {"path": "x.txt", "content": "c b\nc\n"})


def test_only_the_shell_does_the_work_of_the_other_tools() -> None:
    shell = {"name": "Bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}
    lines = []
    for prompt in ("read a.txt", "list the files", "find TODO in src", "create d/a.txt with “it's”"):
        talk = Talk({"Bash": ("",)}, tools=(shell,))
        talk.ask(prompt)
        lines.append(talk.calls[-1][1]["command"])
    assert lines == [
        "cat -n -- a.txt",
        "find . -type f -not -path '*/.?*' -name '*' | sort",
        "grep -rnIE --exclude-dir='.?*' -e TODO -- src || test $? -eq 1",
        "mkdir -p -- d && printf %s 'it'\"'\"'s\n' > d/a.txt",
    ]


def test_a_missing_tool_and_a_missing_value_are_reported() -> None:
    assert "None of the tools I was given can read a file" in Talk(tools=()).ask("read a.txt")
    assert "weather needs city" in Talk().ask("use weather")
