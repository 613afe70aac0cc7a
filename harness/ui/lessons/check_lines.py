"""What `harness check` prints: each check with what it means, in the language of the learner."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from harness.base.terminal_text import visible
from harness.events import Json
from harness.lessons.checker import Checked, CheckResult, Failure, Trouble
from harness.lessons.copies import Copy
from harness.lessons.languages import Language, Text

WHY: Mapping[Trouble, Text] = MappingProxyType(
    {
        Trouble.ASSERTION: Text("{text}", "{text}"),
        Trouble.RAISED: Text("Your code raised {text}", "コードが例外を出しました: {text}"),
        Trouble.UNFIT: Text(
            "The check could not use what {file} gave it: {text}", "{file} の結果を使えませんでした: {text}"
        ),
        Trouble.MISSING: Text("{file} has no {text} any more.", "{file} に {text} がもうありません。"),
        Trouble.ABSENT: Text(
            "There is no {file} any more; `harness learn {chapter} --exercise {name}` puts it back.",
            "{file} がもうありません。`harness learn {chapter} --exercise {name}` で元に戻せます。",
        ),
        Trouble.SYNTAX: Text("This is not valid Python: {text}.", "Python の文法に合っていません: {text}。"),
        Trouble.IMPORT: Text(
            "What is imported here is not there: {text}.", "import したものが見つかりません: {text}。"
        ),
        Trouble.EXIT: Text(
            "Your code ends the program here; a function returns instead.",
            "ここでプログラムを終わらせています。関数なら、代わりに値を返します。",
        ),
        Trouble.GONE: Text(
            "Your code ended the process without a word (exit code {text}).",
            "何も言わずにプロセスが終わりました (終了コード {text})。",
        ),
        Trouble.ENDLESS: Text(
            "After {text} s it was still running, and was ended; look for a loop that never ends.",
            "{text} 秒たっても終わらないので止めました。終わらないループがないか見てください。",
        ),
        Trouble.FORK: Text(
            "Your code makes a copy of the process here; that is not done in a check.",
            "ここでプロセスを複製しようとしています。確かめている間は複製できません。",
        ),
        Trouble.INPUT: Text(
            "Your code asks at the keyboard here; nobody is there in a check.",
            "ここでキーボードからの入力を待っています。確かめている間は誰も入力しません。",
        ),
        Trouble.RECURSION: Text(
            "A function calls itself again and again without an end.", "関数が自分自身を終わりなく呼び続けています。"
        ),
        Trouble.MEMORY: Text(
            "Your code needs more memory than it may have (2 GB).",
            "使ってよい量 (2 GB) を超えるメモリーが必要になりました。",
        ),
        Trouble.NOT_RUN: Text("Not run.", "実行していません。"),
    }
)
"""What each trouble means. {text} is said by the code or its check."""
LINE = Text("line {line}: ", "{line} 行目: ")
PRINTED = Text("Your code printed:", "コードの出力:")
MORE = Text("… {more:,} more bytes", "… ほかに {more:,} バイト")
OTHER_CHECKS = Text(
    "check.py was changed in this folder; the original is what runs.",
    "このフォルダーの check.py は書き換えられています。実行するのは元のファイルです。",
)
LEFT = Text(
    "Programs that your code left running: {left}. They were ended.",
    "コードが動かしたままにしたプログラム: {left}。終了させました。",
)
ALL_PASS = Text("All checks pass ({of}): {id} is done.", "すべての確認に通りました ({of})。{id} は完了です。")
SOME_PASS = Text("{passed} of {of} checks pass.", "{of} 個の確認のうち {passed} 個に通りました。")
HINTS_LEFT = Text(" `harness check --hint` shows a hint.", "`harness check --hint` でヒントが出ます。")
HINT = Text("Hint {number} of {of}: {hint}", "ヒント {number}/{of}: {hint}")
NO_MORE_HINTS = Text("These were all the hints.", "ヒントはこれで全部です。")
SHOWN_LINES = 20
"""Of what the code printed."""


def heading(copy: Copy, language: Language) -> str:
    """Which exercise is checked, and where it is."""
    return f"{copy.exercise.id} · {copy.exercise.title.into(language)}  {visible(str(copy.file))}"


def check_lines(copy: Copy, checked: Checked, language: Language) -> Iterator[str]:
    """What came of the checks, without the heading."""
    if copy.has_other_checks:
        yield f"! {OTHER_CHECKS.into(language)}"
    if checked.loading:
        yield from _why(checked, checked.loading, language, "✗ ")
    for result in checked.results:
        yield from _result(checked, result, language)
    yield from _printed(checked, language)
    if checked.left:
        yield f"! {LEFT.into(language).format(left=checked.left)}"
    yield ""
    yield _summary(copy, checked, language)


def hint_lines(copy: Copy, hint: int | None, language: Language) -> Iterator[str]:
    """The hint of this number; None: all of them again, because there are no more."""
    hints = copy.exercise.hints
    for number in range(len(hints)) if hint is None else (hint,):
        told = hints[number].into(language)
        yield HINT.into(language).format(number=number + 1, of=len(hints), hint=told)
    if hint is None:
        yield NO_MORE_HINTS.into(language)


def hint_as_json(copy: Copy, hint: int | None, language: Language) -> Json:
    """The hint of this number for a program; None: there are no more."""
    hints = copy.exercise.hints
    number, text = (None, None) if hint is None else (hint + 1, hints[hint].into(language))
    return {"exercise": copy.exercise.id, "hint": number, "of": len(hints), "text": text}


def as_json(copy: Copy, checked: Checked, language: Language) -> Json:
    """The same for a program."""
    return {
        "exercise": copy.exercise.id,
        "folder": str(copy.folder),
        "passed": checked.passed,
        "loading": _failure(checked.loading),
        "checks": [
            {
                "name": result.check.name,
                "wants": result.check.wants.into(language),
                "passed": result.passed,
                "failure": _failure(result.failure),
                "wrong": result.check.wrong.into(language),
            }
            for result in checked.results
        ],
        "printed": checked.printed,
        "printed_bytes": checked.printed_bytes,
        "left": checked.left,
        "other_checks": copy.has_other_checks,
    }


def why(checked: Checked, failure: Failure, language: Language) -> str:
    """A failure in a sentence or more, which may have several lines."""
    exercise = checked.exercise
    said = WHY[failure.trouble].into(language)
    sentence = said.format(text=visible(failure.text), file=exercise.file, chapter=exercise.chapter, name=exercise.name)
    return (LINE.into(language).format(line=failure.line) if failure.line else "") + sentence


def _result(checked: Checked, result: CheckResult, language: Language) -> Iterator[str]:
    if result.failure is None:
        yield f"✓ {result.check.wants.into(language)}"
    elif result.failure.trouble is Trouble.NOT_RUN:
        yield f"– {result.check.wants.into(language)} {WHY[Trouble.NOT_RUN].into(language)}"
    else:
        yield f"✗ {result.check.wants.into(language)}"
        yield from _why(checked, result.failure, language, "    ")
        yield f"    {result.check.wrong.into(language)}"


def _why(checked: Checked, failure: Failure, language: Language, before: str) -> Iterator[str]:
    first, *rest = why(checked, failure, language).split("\n")
    yield before + first
    yield from (f"    {line}" for line in rest)


def _printed(checked: Checked, language: Language) -> Iterator[str]:
    if not checked.printed_bytes:
        return
    yield ""
    yield PRINTED.into(language)
    lines = visible(checked.printed).removesuffix("\n").split("\n")
    shown = lines[:SHOWN_LINES]
    yield from (f"    {line}" for line in shown)
    more = checked.printed_bytes - len("\n".join(shown).encode())
    if len(lines) > SHOWN_LINES or checked.is_cut:
        yield f"    {MORE.into(language).format(more=more)}"


def _summary(copy: Copy, checked: Checked, language: Language) -> str:
    of, passed = len(checked.results), sum(result.passed for result in checked.results)
    if checked.passed:
        return ALL_PASS.into(language).format(of=of, id=checked.exercise.id)
    more = HINTS_LEFT.into(language) if copy.note.hints < len(copy.exercise.hints) else ""
    return SOME_PASS.into(language).format(of=of, passed=passed) + more


def _failure(failure: Failure | None) -> Json | None:
    if failure is None:
        return None
    return {"trouble": failure.trouble.value, "line": failure.line, "text": failure.text}
