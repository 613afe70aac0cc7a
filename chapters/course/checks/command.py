"""`harness check`: check an exercise, or show the next hint."""

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import TextIO

from chapters.course.catalogue import chapters_folder, lessons
from chapters.course.checks.checker import Checked, CheckFailure, CheckResult, Trouble, run_checks
from chapters.course.checks.copies import Copy, NoCopy, copies
from chapters.course.checks.exercises import every_exercise, exercises_of
from chapters.course.checks.solution import is_playable
from chapters.course.plain import messages
from chapters.course.progress import Progress, ProgressError
from chapters.course.sources import source
from chapters.course.text import Language, LocalizedText
from harness.base.external_text import visible
from harness.events import Json
from harness.settings import Settings


def check(settings: Settings, options: Namespace, out: TextIO) -> int:
    """Run the command; returns 0 if everything passes. Raises HarnessError."""
    if options.final is not None:
        from chapters.course.exam.command import final_exam  # a server and its scripts; exercises need none

        return final_exam(settings, options, out)
    found = copies(Path.cwd() / (options.folder or ""), every_exercise(chapters_folder()))
    if options.hint:
        _hint(found, options, out)
        return 0
    passed = asyncio.run(_check_all(found, options, out))
    for copy in passed:
        _remember(settings, copy)
    return 0 if len(passed) == len(found) else 1


async def _check_all(found: Sequence[Copy], options: Namespace, out: TextIO) -> list[Copy]:
    passed, reports = [], []
    for number, copy in enumerate(found):
        language = _language(copy, options)
        if not options.json:
            out.write("\n\n" * (number > 0) + heading(copy, language) + "\n")
            out.flush()  # the checks may be slow
        checked = await run_checks(copy.exercise, copy.file)
        reports.append(as_json(copy, checked, language))
        if not options.json:
            out.writelines(f"{line}\n" for line in check_lines(copy, checked, language))
        if checked.passed:
            passed.append(copy)
    if options.json:
        out.write(json.dumps({"exercises": reports}) + "\n")
    return passed


def _hint(found: Sequence[Copy], options: Namespace, out: TextIO) -> None:
    if len(found) > 1:
        names = ", ".join(copy.folder.name for copy in found)
        raise NoCopy(f"There are several exercises here; name one for a hint: {names}.")
    checked = asyncio.run(run_checks(found[0].exercise, found[0].file))
    copy, hint = found[0].next_hint(next((one.check.name for one in checked.results if one.failure), None))
    language = _language(copy, options)
    if options.json:
        out.write(json.dumps(hint_as_json(copy, hint, language)) + "\n")
    else:
        out.writelines(f"{line}\n" for line in hint_lines(copy, hint, language))


def _language(copy: Copy, options: Namespace) -> Language:
    language: Language = options.language or copy.note.language
    return language


def _remember(settings: Settings, copy: Copy) -> None:
    try:
        Progress.of(settings.state_dir).passed(copy.exercise.id)
    except ProgressError as error:
        print(f"harness: {error} The result was not saved.", file=sys.stderr)


WHY: Mapping[Trouble, LocalizedText] = MappingProxyType(
    {
        Trouble.ASSERTION: LocalizedText("{text}", "{text}"),
        Trouble.RAISED: LocalizedText("Your code raised {text}", "コードが例外を出しました: {text}"),
        Trouble.UNFIT: LocalizedText(
            "The check cannot use the result of {file}: {text}", "{file} の結果を使えませんでした: {text}"
        ),
        Trouble.MISSING: LocalizedText("{file} does not define {text}.", "{file} に {text} がもうありません。"),
        Trouble.ABSENT: LocalizedText(
            "{file} is missing; `harness learn {chapter} --exercise {name}` restores it.",
            "{file} がもうありません。`harness learn {chapter} --exercise {name}` で元に戻せます。",
        ),
        Trouble.SYNTAX: LocalizedText("This is not valid Python: {text}.", "Python の文法に合っていません: {text}。"),
        Trouble.IMPORT: LocalizedText("This import fails: {text}.", "import したものが見つかりません: {text}。"),
        Trouble.EXIT: LocalizedText(
            "Your code exits the program here; return from the function instead.",
            "ここでプログラムを終わらせています。関数なら、代わりに値を返します。",
        ),
        Trouble.GONE: LocalizedText(
            "The process ended unexpectedly (exit code {text}).",
            "何も言わずにプロセスが終わりました (終了コード {text})。",
        ),
        Trouble.ENDLESS: LocalizedText(
            "No end after {text} s of computing; look for an endless loop.",
            "{text} 秒計算しても終わらないので止めました。終わらないループがないか見てください。",
        ),
        Trouble.STUCK: LocalizedText(
            "No end after {text} s; look for something that is waited for and never comes.",
            "{text} 秒たっても終わらないので止めました。来ないものを待っていないか見てください。",
        ),
        Trouble.FORK: LocalizedText(
            "Your code forks the process here, which checks do not allow.",
            "ここでプロセスを複製しようとしています。確かめている間は複製できません。",
        ),
        Trouble.INPUT: LocalizedText(
            "Your code reads from the keyboard here, which checks do not allow.",
            "ここでキーボードからの入力を待っています。確かめている間は誰も入力しません。",
        ),
        Trouble.RECURSION: LocalizedText("Endless recursion.", "関数が自分自身を終わりなく呼び続けています。"),
        Trouble.MEMORY: LocalizedText(
            "Your code exceeds the memory limit (2 GB).",
            "使ってよい量 (2 GB) を超えるメモリーが必要になりました。",
        ),
        Trouble.NOT_RUN: LocalizedText("Not run.", "実行していません。"),
    }
)
"""Explanations. {text} comes from the code or its check."""
LINE = LocalizedText("line {line}: ", "{line} 行目: ")
PRINTED = LocalizedText("Your code printed:", "コードの出力:")
MORE = LocalizedText("… {more:,} more bytes", "… ほかに {more:,} バイト")
OTHER_CHECKS = LocalizedText(
    "check.py in this folder is not that of the course, which was run instead.",
    "このフォルダーの check.py はコースのものと違います。コースのものを実行しました。",
)
LEFT = LocalizedText(
    "Programs left running and ended: {left}.",
    "コードが動かしたままにしたプログラム: {left}。終了させました。",
)
ALL_PASS = LocalizedText("All checks pass ({of}): {id} is done.", "すべての確認に通りました ({of})。{id} は完了です。")
SAME = LocalizedText(
    "The program does the same in {path}, line {line} ({name}).",
    "プログラムでは {path} の {line} 行目 ({name}) が同じことをします。",
)
NEXT = LocalizedText("Next: {command}", "次へ: {command}")
SOME_PASS = LocalizedText("{passed} of {of} checks pass.", "{of} 個の確認のうち {passed} 個に通りました。")
HINTS_LEFT = LocalizedText(" `harness check --hint` shows a hint.", "`harness check --hint` でヒントが出ます。")
HINT = LocalizedText("Hint {number} of {of}: {hint}", "ヒント {number}/{of}: {hint}")
NO_MORE_HINTS = LocalizedText("There are no more hints.", "ヒントはこれで全部です。")
SHOWN_LINES = 20
"""Lines of the output to show."""


def heading(copy: Copy, language: Language) -> str:
    """The exercise and its path."""
    return f"{copy.exercise.id} · {copy.exercise.title.into(language)}  {visible(str(copy.file))}"


def check_lines(copy: Copy, checked: Checked, language: Language) -> Iterator[str]:
    """The results, without the heading."""
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
    if checked.passed:
        yield from _what_next(copy, language)


def hint_lines(copy: Copy, hint: int | None, language: Language) -> Iterator[str]:
    """The hint with this index; None: all of them again, because there are no more."""
    hints = copy.exercise.hints
    for number in range(len(hints)) if hint is None else (hint,):
        text = hints[number].into(language)
        yield HINT.into(language).format(number=number + 1, of=len(hints), hint=text)
    if hint is None:
        yield NO_MORE_HINTS.into(language)


def hint_as_json(copy: Copy, hint: int | None, language: Language) -> Json:
    """The hint with this index as JSON; None: there are no more."""
    hints = copy.exercise.hints
    number, text = (None, None) if hint is None else (hint + 1, hints[hint].into(language))
    return {"exercise": copy.exercise.id, "hint": number, "of": len(hints), "text": text}


def as_json(copy: Copy, checked: Checked, language: Language) -> Json:
    """The results as JSON."""
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


def why(checked: Checked, failure: CheckFailure, language: Language) -> str:
    """An explanation of a failure, in one or more lines."""
    exercise = checked.exercise
    template = WHY[failure.trouble].into(language)
    sentence = template.format(
        text=visible(failure.text), file=exercise.file, chapter=exercise.chapter, name=exercise.name
    )
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


def _why(checked: Checked, failure: CheckFailure, language: Language, before: str) -> Iterator[str]:
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
    more = HINTS_LEFT.into(language) if len(copy.note.hints) < len(copy.exercise.hints) else ""
    return SOME_PASS.into(language).format(of=of, passed=passed) + more


def _what_next(copy: Copy, language: Language) -> Iterator[str]:
    exercise = copy.exercise
    if exercise.program is not None:
        path, _, name = exercise.program.partition(":")
        same = exercise.same or SAME
        yield same.into(language).format(path=path, line=source(exercise.program).first_line, name=name)
    if is_playable(exercise):
        command = f"harness learn {exercise.chapter} --with {quote(visible(shown_path(copy.file)))}"
        yield messages.WATCH.into(language).format(command=command)
    others = [one.name for one in exercises_of(exercise.folder.parent.parent) if one.name > exercise.name]
    chapters = [one.id for one in lessons() if one.id > exercise.chapter]
    if others:
        yield NEXT.into(language).format(command=f"harness learn {exercise.chapter} --exercise {others[0]}")
    elif chapters:
        yield NEXT.into(language).format(command=f"harness learn {chapters[0]}")
    else:
        yield NEXT.into(language).format(command="harness check --final 'my_agent.py --yolo'")


def shown_path(file: Path) -> str:
    """A path as the user would type it here."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def _failure(failure: CheckFailure | None) -> Json | None:
    if failure is None:
        return None
    return {"trouble": failure.trouble.value, "line": failure.line, "text": failure.text}
