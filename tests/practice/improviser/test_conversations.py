"""Whole conversations on real files and real commands."""

from pathlib import Path

import pytest

from harness.practice.improviser import phrases
from tests.practice.improviser.driver import Conversation, calls_of, text_of


def test_it_says_what_it_is_at_its_first_answer_and_not_at_the_second(project: Path) -> None:
    talk = Conversation(project)
    assert talk.ask("list the files").startswith(phrases.INTRODUCTION.english)
    assert "practice model" not in talk.ask("read a.txt")
    assert "rule-based" in talk.ask("who are you?")


def test_files_are_listed_and_the_second_one_is_read(project: Path) -> None:
    talk = Conversation(project)
    listed = talk.ask("list the files")
    assert "There are 6 files" in listed
    assert "- src/app.py" in listed
    assert "one\ntwo" in talk.ask("read the second one")
    assert "# Demo" in talk.ask("and the first one?")


def test_a_name_that_markdown_would_change_is_listed_as_it_is(project: Path) -> None:
    (project / "pkg").mkdir()
    (project / "pkg" / "__init__.py").write_text("VERSION = 1\n")
    talk = Conversation(project)
    assert "- `pkg/__init__.py`" in talk.ask("list the files in pkg")
    assert "VERSION = 1" in talk.ask("read the first one")


def test_a_folder_is_listed(project: Path) -> None:
    answer = Conversation(project).ask("what files are in the docs folder?")
    assert "docs/guide.md" in answer
    assert "README" not in answer


def test_headings_are_those_of_the_file_and_not_of_its_code_blocks(project: Path) -> None:
    talk = Conversation(project)
    answer = talk.ask("Read README.md and tell me its headings")
    assert answer.endswith("- Demo\n  - Install\n  - Use")
    assert len(talk.calls) == 1
    assert talk.ask("how many lines does it have?") == "README.md has 15 lines."


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("what functions does src/app.py define?", "- run\n- main"),
        ("which classes are in src/app.py?", "- App"),
        ("show the first 2 lines of README.md", "```\n# Demo\n\n```"),
        ("show the last line of a.txt", "two"),
        ("summarise docs/guide.md", "It begins: How to use it."),
        ("find TODO", "`src/app.py:6` pass  # TODO finish this"),
        ('search for "no such thing" in *.md files', "I did not find “no such thing”."),
        ("find all markdown files", "- README.md\n- docs/guide.md"),
        ("how many files are there?", "I count 6 files in this folder."),
        ("how many python files are there?", "I found 1 file that match"),
        ("compare a.txt and b.txt", "-two\n+three"),
        ("what is this project about?", "A small demo project."),
        ("run `echo hi there`", "hi there"),
        ("run `exit 3`", "failed (exit code 3) and printed nothing"),
        ("run `ls nowhere`", "No such file"),
        ("what is 17 * 4?", "17 * 4 = 68"),
        ("sing a song", "list the files"),
        ("fix the bug in src/app.py", "rule-based practice model"),
        ("what tools do you have?", "**grep**"),
        ("srcフォルダのファイルを一覧してください", "- src/app.py"),
        ("README.mdを読んで、見出しを教えてください", "README.md の見出しは次のとおりです。\n\n- Demo\n  - Install"),
        ("src/app.pyにはどんな関数がありますか", "- run\n- main"),
        ("TODOを探して", "「TODO」は 1 か所にあります。"),
        ("a.txtは何行ありますか", "a.txt は 2 行です。"),
        ("`echo こんにちは`を実行して", "`echo こんにちは` は成功しました。"),
        ("a.txtとb.txtを比べて", "違いがあります"),
        ("歌ってください", "ルールベースの練習用モデル"),
        ("あなたは誰ですか", "ルールベース"),
    ],
)
def test_one_request_one_answer(project: Path, prompt: str, expected: str) -> None:
    assert expected in Conversation(project).ask(prompt)


def test_git_questions_are_answered_by_git(repository: Path) -> None:
    talk = Conversation(repository)
    assert "main" in talk.ask("which branch am I on?")
    assert "The beginning" in talk.ask("show the last commit")
    (repository / "a.txt").write_text("new\n")
    assert "a.txt" in talk.ask("git status")
    assert "The beginning" in talk.ask("最後のコミットを見せて")


def test_a_program_is_written_run_and_changed(project: Path) -> None:
    talk = Conversation(project)
    assert "Hello World" in talk.ask("create hello.py that prints Hello World and run it")
    assert (project / "hello.py").read_text() == 'print("Hello World")\n'
    talk.ask('append "print(2)" to hello.py')
    assert "Hello World\n2" in talk.ask("now run hello.py")
    talk.ask('replace "World" with "there" in hello.py')
    assert "Hello there\n2" in talk.ask("run python3 hello.py")


def test_a_program_is_written_and_run_in_japanese(project: Path) -> None:
    talk = Conversation(project)
    assert "作成しました" in talk.ask("hello.pyを作って、こんにちはと表示するようにして")
    assert "こんにちは" in talk.ask("hello.pyを実行して")
    talk.ask("notes.txtを作って、内容は「牛乳」")
    talk.ask("notes.txtに「卵」を追加して")
    talk.ask("notes.txtの「牛乳」を「お茶」に置き換えて")
    assert (project / "notes.txt").read_text() == "お茶\n卵\n"


def test_an_old_file_is_not_overwritten_until_that_is_wished(project: Path) -> None:
    talk = Conversation(project)
    assert "exists already" in talk.ask('create a.txt with the text "new"')
    assert (project / "a.txt").read_text() == "one\ntwo\n"
    talk.ask('overwrite a.txt with "new"')
    assert (project / "a.txt").read_text() == "new\n"


def test_the_value_of_a_setting_is_changed_and_not_its_name(project: Path) -> None:
    Conversation(project).ask("change timeout to 30 in config.toml")
    assert (project / "config.toml").read_text() == 'timeout = 30\nname = "demo"\n'


def test_two_files_are_read_at_once_and_summed_up_in_a_third(project: Path) -> None:
    talk = Conversation(project)
    talk.ask("read a.txt and README.md, then write a summary to c.md")
    assert [call.name for call in calls_of(talk.replies[0])] == ["read_file", "read_file"]
    assert "A small demo project." in (project / "c.md").read_text()


def test_nothing_is_summed_up_from_files_that_are_missing(project: Path) -> None:
    assert "does not exist" in Conversation(project).ask("read no.md and b.txt, then write a summary to c.md")
    assert not (project / "c.md").exists()


def test_things_that_only_look_are_asked_for_together(project: Path) -> None:
    talk = Conversation(project)
    answer = talk.ask("list the files and read README.md")
    assert {call.name for call in calls_of(talk.replies[0])} == {"glob", "read_file"}
    assert text_of(talk.replies[0])
    assert "A small demo project." in answer


def test_the_readme_is_found_whatever_its_ending(project: Path) -> None:
    talk = Conversation(project)
    assert "A small demo project." in talk.ask("what does the readme say?")
    assert [call.name for call in talk.calls] == ["glob", "read_file"]
    assert "A small demo project." in talk.ask("READMEには何が書いてありますか")


def test_a_missing_file_is_looked_for_once(project: Path) -> None:
    talk = Conversation(project)
    answer = talk.ask("read guide.md")
    assert "docs/guide.md does" in answer
    assert "How to use it." in answer
    assert "no other file of that name" in talk.ask("read nothing.md")
    assert [call.name for call in talk.calls[-2:]] == ["read_file", "glob"]


def test_what_is_not_allowed_is_not_tried_again(project: Path) -> None:
    talk = Conversation(project, deny=lambda call: call.name in ("bash", "write_file"))
    assert "not allowed" in talk.ask("run `echo hi`")
    assert "not allowed" in talk.ask("create new.txt")
    assert "許可されなかった" in talk.ask("`echo hi`を実行して")
    assert [call.name for call in talk.calls] == ["bash", "glob", "write_file", "bash"]


def test_the_tests_of_the_project_are_run_as_the_project_runs_them(project: Path) -> None:
    talk = Conversation(project)
    assert "no tests here" in talk.ask("run the tests")
    (project / "Makefile").write_text("test:\n\t@echo 3 passed\n")
    assert "`make test`: 3 passed" in talk.ask("run the tests")
    (project / "Makefile").write_text("test:\n\t@echo 1 failed; exit 1\n")
    assert "テストは失敗しました" in talk.ask("テストを実行してください")
    assert "rule-based" in talk.ask("fix the failing tests")


def test_the_language_is_that_of_the_last_prompt(project: Path) -> None:
    talk = Conversation(project)
    assert "has 2 lines" in talk.ask("read a.txt")
    assert "2 行" in talk.ask("b.txtを読んで")
    assert "has 2 lines" in talk.ask("read it again")


def test_a_part_that_is_not_understood_is_named(project: Path) -> None:
    assert "“tell me a joke”" in Conversation(project).ask("read a.txt and tell me a joke")


def test_more_files_than_a_tool_lists_are_counted_all_the_same(tmp_path: Path) -> None:
    for number in range(530):
        (tmp_path / f"f{number:03}.txt").touch()
    talk = Conversation(tmp_path)
    assert "530 files" in talk.ask("list the files")
    assert "530 files" in talk.ask("find all txt files")
    assert "530 files" in talk.ask("how many files are there?")
    answer = talk.ask("list the files")
    listed = answer.count("\n- f")
    assert f"{530 - listed} more" in answer
