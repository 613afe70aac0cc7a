"""The intent table, sentence by sentence, in both languages."""

import pytest

from harness.practice.improviser.goals import (
    AboutProject,
    AppendText,
    Aspect,
    Calculate,
    CompareFiles,
    CreateFile,
    FindFiles,
    Goal,
    ListFiles,
    ReadFile,
    ReplaceText,
    RunCommand,
    RunTests,
    SaveReport,
    SearchText,
    Talk,
    Topic,
)
from harness.practice.improviser.intents import understand
from harness.practice.improviser.language import Language, language_of
from harness.practice.improviser.toolset import tool_set
from harness.practice.improviser.turns import Turn

READ_A, READ_B = ReadFile("A.md", Aspect.SUMMARY), ReadFile("B.md", Aspect.SUMMARY)
HELLO_SH = "#!/usr/bin/env bash\nprintf '%s\\n' hi\n"
README_HEADINGS = ReadFile("README.md", Aspect.HEADINGS)

ENGLISH: tuple[tuple[str, tuple[Goal, ...]], ...] = (
    ("list the files", (ListFiles(),)),
    ("List all files please", (ListFiles(),)),
    ("ls", (ListFiles(),)),
    ("what files are in the tests folder?", (ListFiles("tests"),)),
    ("list the files in src", (ListFiles("src"),)),
    ("read README.md", (ReadFile("README.md"),)),
    ("can you read README.md?", (ReadFile("README.md"),)),
    ("what's in `config.toml`?", (ReadFile("config.toml"),)),
    ("README.md", (ReadFile("README.md"),)),
    ("read README.md and tell me its headings", (README_HEADINGS,)),
    ("Read README.md. Tell me its headings.", (README_HEADINGS,)),
    ("show me the first 5 lines of setup.py", (ReadFile("setup.py", Aspect.FIRST, 5),)),
    ("show the last three lines of log.txt", (ReadFile("log.txt", Aspect.LAST, 3),)),
    ("how many lines does app.py have?", (ReadFile("app.py", Aspect.LENGTH),)),
    ("what functions does app.py define?", (ReadFile("app.py", Aspect.FUNCTIONS),)),
    ("which classes are in src/app.py", (ReadFile("src/app.py", Aspect.CLASSES),)),
    ("what does app.py do?", (ReadFile("app.py", Aspect.SUMMARY),)),
    ("tell me about app.py", (ReadFile("app.py", Aspect.SUMMARY),)),
    ("what does the readme say?", (ReadFile("README"),)),
    ("how big is app.py?", (ReadFile("app.py", Aspect.LENGTH),)),
    ("write a test for app.py", (Talk(Topic.NOT_UNDERSTOOD),)),
    ("write a function in app.py", (Talk(Topic.NOT_UNDERSTOOD),)),
    ('create a.txt with the text "see b.txt"', (CreateFile("a.txt", "see b.txt\n"),)),
    ('replace "time.time" with "time.monotonic" in app.py', (ReplaceText("app.py", "time.time", "time.monotonic"),)),
    ("find TODO", (SearchText("TODO"),)),
    ("find TODO in src", (SearchText("TODO", "src"),)),
    ("find all TODOs", (SearchText("TODO"),)),
    ("search for load_config in *.py files", (SearchText("load_config", None, "*.py"),)),
    ('grep "hello world" in the docs folder', (SearchText("hello world", "docs"),)),
    ("where is parse_args defined?", (SearchText("parse_args"),)),
    ("find all python files", (FindFiles("*.py"),)),
    ("find *.md", (FindFiles("*.md"),)),
    ("how many files are there?", (FindFiles("**/*", None, count_only=True),)),
    ('create a file notes.txt with the text "buy milk"', (CreateFile("notes.txt", "buy milk\n"),)),
    ("create hello.py that prints Hello World", (CreateFile("hello.py", 'print("Hello World")\n'),)),
    ("create an empty file called x.txt", (CreateFile("x.txt", ""),)),
    ("create a.txt:\n```\none\ntwo\n```", (CreateFile("a.txt", "one\ntwo\n"),)),
    ('append "more" to notes.txt', (AppendText("notes.txt", "more"),)),
    ('replace "a" with "b" in notes.txt', (ReplaceText("notes.txt", "a", "b"),)),
    ("in notes.txt, replace `a` by `b`", (ReplaceText("notes.txt", "a", "b"),)),
    ("change timeout to 30 in config.toml", (ReplaceText("config.toml", "timeout", "30", setting=True),)),
    ("run `pytest -q`", (RunCommand("pytest -q"),)),
    ("run pytest -q tests/test_a.py", (RunCommand("pytest -q tests/test_a.py"),)),
    ("run hello.py", (RunCommand("python3 hello.py"),)),
    ("$ echo hi", (RunCommand("echo hi"),)),
    ("run the tests", (RunTests(),)),
    ("do the tests pass?", (RunTests(),)),
    ("which branch am I on?", (RunCommand("git branch --show-current"),)),
    ("git status", (RunCommand("git status --short --branch"),)),
    ("show the last 3 commits", (RunCommand("git log --oneline -n 3"),)),
    ("compare a.txt and b.txt", (CompareFiles("a.txt", "b.txt"),)),
    ("what is the difference between a.txt and b.txt?", (CompareFiles("a.txt", "b.txt"),)),
    ("read A.md and B.md, then write a summary to C.md", (SaveReport("C.md", (READ_A, READ_B)),)),
    ("write a summary of A.md and B.md to C.md", (SaveReport("C.md", (READ_A, READ_B)),)),
    ("list the files and read the README", (ListFiles(), ReadFile("README"))),
    ("create hello.sh that prints hi and run it", (CreateFile("hello.sh", HELLO_SH), RunCommand("bash hello.sh"))),
    ("1. list the files\n2. read a.txt", (ListFiles(), ReadFile("a.txt"))),
    ("delete old.txt", (RunCommand("rm -- old.txt"),)),
    ("What is this project about?", (AboutProject(),)),
    ("what is 2 + 3 * 4?", (Calculate("2 + 3 * 4"),)),
    ("what tools do you have?", (Talk(Topic.TOOLS),)),
    ("Hello!", (Talk(Topic.GREETING),)),
    ("Hello! Please list the files", (ListFiles(),)),
    ("thanks", (Talk(Topic.THANKS),)),
    ("bye", (Talk(Topic.GOODBYE),)),
    ("help", (Talk(Topic.HELP),)),
    ("what can you do?", (Talk(Topic.HELP),)),
    ("who are you?", (Talk(Topic.IDENTITY),)),
    ("are you an AI?", (Talk(Topic.IDENTITY),)),
    ("read it", (Talk(Topic.NO_REFERENT),)),
    ("refactor the parser", (Talk(Topic.NOT_UNDERSTOOD),)),
    ("sing me a song about the sea", (Talk(Topic.NOT_UNDERSTOOD),)),
    ("", (Talk(Topic.NOT_UNDERSTOOD),)),
)  # fmt: skip

JAPANESE: tuple[tuple[str, tuple[Goal, ...]], ...] = (
    ("ファイルの一覧を見せてください", (ListFiles(),)),
    ("srcフォルダのファイルを一覧してください", (ListFiles("src"),)),
    ("README.mdを読んで", (ReadFile("README.md"),)),
    ("メモ.txtを読んでください", (ReadFile("メモ.txt"),)),
    ("README.mdを読んで、見出しを教えてください", (README_HEADINGS,)),
    ("README.mdの最初の5行を見せて", (ReadFile("README.md", Aspect.FIRST, 5),)),
    ("app.pyは何行ありますか", (ReadFile("app.py", Aspect.LENGTH),)),
    ("app.pyにはどんな関数がありますか", (ReadFile("app.py", Aspect.FUNCTIONS),)),
    ("README.mdを要約して", (ReadFile("README.md", Aspect.SUMMARY),)),
    ("TODOを探して", (SearchText("TODO"),)),
    ("「main」を含むファイルを教えて", (SearchText("main"),)),
    ("docsの中を見せて", (ListFiles("docs"),)),
    ("READMEには何が書いてありますか", (ReadFile("README"),)),
    ("srcの中でTODOを検索してください", (SearchText("TODO", "src"),)),
    ("「hello」という文字列を含む行を探して", (SearchText("hello"),)),
    ("Pythonファイルを探して", (FindFiles("*.py"),)),
    ("ファイルはいくつありますか", (FindFiles("**/*", None, count_only=True),)),
    ("「こんにちは」と書いたメモ.txtを作って", (CreateFile("メモ.txt", "こんにちは\n"),)),
    ("hello.pyを作って、Hello Worldと表示するようにして", (CreateFile("hello.py", 'print("Hello World")\n'),)),
    ("notes.txtを作って、内容は「牛乳」", (CreateFile("notes.txt", "牛乳\n"),)),
    ("notes.txtに「卵」を追加して", (AppendText("notes.txt", "卵"),)),
    ("notes.txtの「a」を「b」に置き換えて", (ReplaceText("notes.txt", "a", "b"),)),
    ("`ls -la`を実行して", (RunCommand("ls -la"),)),
    ("テストを実行してください", (RunTests(),)),
    ("今どのブランチですか", (RunCommand("git branch --show-current"),)),
    ("最後のコミットを3件見せて", (RunCommand("git log --oneline -n 3"),)),
    ("gitの状態を教えて", (RunCommand("git status --short --branch"),)),
    ("a.txtとb.txtを比較して", (CompareFiles("a.txt", "b.txt"),)),
    ("A.mdとB.mdを読んで、要約をC.mdに書いてください", (SaveReport("C.md", (READ_A, READ_B)),)),
    ("ファイルを一覧して、README.mdを読んでください", (ListFiles(), ReadFile("README.md"))),
    ("このプロジェクトは何ですか", (AboutProject(),)),
    ("3 + 4 は？", (Calculate("3 + 4"),)),
    ("使えるツールを教えて", (Talk(Topic.TOOLS),)),
    ("こんにちは", (Talk(Topic.GREETING),)),
    ("ありがとうございます", (Talk(Topic.THANKS),)),
    ("さようなら", (Talk(Topic.GOODBYE),)),
    ("何ができますか", (Talk(Topic.HELP),)),
    ("あなたは誰ですか", (Talk(Topic.IDENTITY),)),
    ("歌ってください", (Talk(Topic.NOT_UNDERSTOOD),)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "goals"), [*ENGLISH, *JAPANESE], ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_sentence_means_what_it_says(prompt: str, goals: tuple[Goal, ...]) -> None:
    assert understand((Turn(prompt),), tool_set(())).goals == goals


@pytest.mark.parametrize(
    ("prompts", "goals"),
    [
        (("read a.txt", "read it again"), (ReadFile("a.txt"),)),
        (("read a.txt", "again"), (ReadFile("a.txt"),)),
        (("a.txtを読んで", "もう一度"), (ReadFile("a.txt"),)),
        (("read a.txt and b.txt", "what about the second one?"), (ReadFile("b.txt"),)),
        (("read a.txt", "thanks", "how many lines does it have?"), (ReadFile("a.txt", Aspect.LENGTH),)),
        (("read a.txt", "compare it with b.txt"), (CompareFiles("a.txt", "b.txt"),)),
        (("README.mdを読んで", "見出しを教えて"), (README_HEADINGS,)),
    ],
)
def test_a_sentence_may_refer_to_the_ones_before(prompts: tuple[str, ...], goals: tuple[Goal, ...]) -> None:
    turns = tuple(Turn(prompt, answered=True) for prompt in prompts)
    assert understand(turns, tool_set(())).goals == goals


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("read it", Language.ENGLISH),
        ("読んで", Language.JAPANESE),
        ("create a file with the text 「こんにちは」", Language.ENGLISH),
        ("`read it` を実行して", Language.JAPANESE),
        ("「こんにちは」", Language.JAPANESE),
        ("12 + 3", Language.ENGLISH),
        ("", Language.ENGLISH),
    ],
)
def test_the_language_is_that_of_the_words_outside_of_quotes(text: str, language: Language) -> None:
    assert language_of(text) is language
