"""`harness check --final`: the final exam of the course, as plain lines."""

import asyncio
import re
import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from types import MappingProxyType
from typing import TextIO

from chapters.course.exam.judgement import Continued, Ended, Observed, Shown, shown
from chapters.course.exam.mechanisms import Mechanism
from chapters.course.exam.player import KILLED, PARTS, SIGNALS, Played, play_exam, row_of
from chapters.course.exam.program import Program, ProgramError
from chapters.course.exam.result import ExamResult
from chapters.course.exam.rows import RowKind
from chapters.course.progress import Progress
from chapters.course.text import Language, LocalizedText
from harness.base.external_text import visible
from harness.settings import Settings

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "one tool call, then the answer": "ツールを一度呼び、答える",
        "429, retry-after 1": "429、retry-after 1",
        "429, retry-after 8": "429、retry-after 8",
        "429 without header": "429、ヘッダーなし",
        "529 twice": "529 が 2 回",
        "529 five times, no fallback set": "529 が 5 回、フォールバックモデルの設定なし",
        "529 forever, fallback model set": "529 が続く、フォールバックモデルの設定あり",
        "500": "500",
        "503 with a plain-text proxy body": "503、本文はプロキシのテキスト",
        "error event inside the stream": "ストリームの途中で error イベント",
        "connection reset inside the stream": "ストリームの途中で接続が切れる",
        "stream ends cleanly without message_stop": "message_stop なしでストリームが終わる",
        "reset inside a tool call's JSON": "ツール呼び出しの JSON の途中で接続が切れる",
        "stall in the middle of text": "文章の途中で無応答",
        "stall before the first byte": "最初の 1 バイトの前に無応答",
        "prompt too long once": "プロンプトが長すぎる (一度)",
        "413 once": "413 (一度)",
        "prompt too long forever": "プロンプトが長すぎる (いつまでも)",
        "max_tokens once, then the rest": "max_tokens で一度切れ、その後完了",
        "max_tokens three times, then the rest": "max_tokens で三度切れ、その後完了",
        "max_tokens without end": "max_tokens で切れ続ける",
        "tool call cut by max_tokens": "ツール呼び出しが max_tokens で切れる",
        "unparsable SSE event": "読めない SSE イベント",
        "empty 200 stream": "200 で空のストリーム",
        "connection reset before the first byte": "最初の 1 バイトの前に接続が切れる",
        "502 with a page of HTML": "502、本文は HTML のページ",
        "a call of a tool that does not exist": "存在しないツールの呼び出し",
        "a call without its arguments": "引数のない呼び出し",
        "401": "401",
        "the model asks for the same call forever": "同じ呼び出しがいつまでも続く",
        "the same call fails forever": "同じ呼び出しがいつまでも失敗する",
        "the same call 50 times, news each time": "同じ呼び出しを 50 回、毎回新しい結果",
        "50 pages, one call each": "50 ページ、1 回ずつ呼び出す",
        "a tool of an MCP server": "MCP サーバーのツール",
        "an MCP server ends in a call, then the next call": "呼び出しの途中で MCP サーバーが終わり、次の呼び出し",
        "an MCP server writes lines that are no messages": "MCP サーバーがメッセージではない行を書く",
        "an MCP server never answers a call": "MCP サーバーが呼び出しに答えない",
        "a member's answer reaches the lead": "メンバーの答えがリードに届く",
        "a member's model is overloaded twice": "メンバーのモデルが二度過負荷になる",
        "a member fails, and the lead hears of it": "メンバーが失敗し、リードに知らされる",
        "an unchanged worktree goes away": "変更のないワークツリーが片付けられる",
        "a new file in a worktree": "ワークツリーの新しいファイル",
        "an ignored file in a worktree": "ワークツリーの無視されたファイル",
        "a commit in a worktree": "ワークツリーのコミット",
        "a commit on no branch in a worktree": "ワークツリーの、どのブランチにもないコミット",
        KILLED: "ターンの途中で kill -9、そして続行",
        **{name: f"コマンドの実行中に {number.name}" for name, number in SIGNALS.items()},
    }
)
"""The parts in Japanese."""

BEGINS = LocalizedText("Final exam of {program}: {count} parts", "{program} の最終試験: {count} 項目")
SILENT = LocalizedText("Silent servers take about a minute.", "サーバーが無応答の項目には 1 分ほどかかります。")
PROGRESS = LocalizedText("{done} of {of} parts played, {seconds} s", "{of} 項目中 {done} 項目が終了、{seconds} 秒")
REQUESTS = LocalizedText("requests: {count}", "リクエスト {count} 回")
EXIT = LocalizedText("exit code {code}", "終了コード {code}")
ENDLESS = LocalizedText("ended by the exam after so many requests", "リクエストが多すぎるため試験側で終了")
TIMED_OUT = LocalizedText("ended by the exam after {seconds} s", "{seconds} 秒たっても終わらないため試験側で終了")
ON_STDOUT: Mapping[Shown, LocalizedText] = MappingProxyType(
    {
        Shown.NOTHING: LocalizedText("nothing on stdout", "stdout は空"),
        Shown.OTHER: LocalizedText("not the whole answer on stdout: {text}", "stdout に答えの全文がない: {text}"),
        Shown.END: LocalizedText(
            "only the end of the answer on stdout: {text}", "stdout に答えの終わりの部分だけ: {text}"
        ),
        Shown.ONCE: LocalizedText("answer once on stdout", "stdout に答えが一度だけ"),
        Shown.TWICE: LocalizedText("answer or its beginning twice on stdout", "stdout に答えまたはその始まりが二度"),
    }
)
SAID_NOTHING = LocalizedText("no words", "何も出力なし")
RAN = LocalizedText("tool call ran {count} times, not {wanted}", "ツール呼び出しの実行が {wanted} 回でなく {count} 回")
INVALID = LocalizedText("refused: {text}", "拒否された理由: {text}")
LOST = LocalizedText("{lost} of {of} messages lost", "{of} 件のメッセージのうち {lost} 件が欠落")
RERAN = LocalizedText("a command of before the kill ran again", "kill の前のコマンドが再び実行された")
NO_REQUEST = LocalizedText("no request", "リクエストなし")
NO_COMMAND = LocalizedText("the command did not start", "コマンドが始まらなかった")
ENDED = LocalizedText("ended after {seconds:.1f} s", "{seconds:.1f} 秒で終了")
NOT_ENDED = LocalizedText("not ended within {seconds:.0f} s", "{seconds:.0f} 秒以内に終了しない")
LEFT = LocalizedText("left running: {names}", "残ったプロセス: {names}")
NOTHING_LEFT = LocalizedText("nothing left running", "残ったプロセスなし")

SURVIVED = LocalizedText(
    "{survived} of {of} recoverable faults survived; {needed} are needed.",
    "回復できる障害 {of} 種類のうち {survived} 種類を乗り切りました。合格には {needed} 種類が必要です。",
)
VIOLATIONS = LocalizedText(
    "Requests with an invalid history: {count}; none is allowed.",
    "履歴が正しくないリクエスト: {count} 件 (1 件も許されません)。",
)
CHECKS = LocalizedText(
    "Kill and signals: {passed} of {of} held; all are needed.",
    "kill とシグナル: {of} 項目中 {passed} 項目を満たしました。全項目が必要です。",
)
OTHERS = LocalizedText(
    "Hopeless faults and long work: {passed} of {of} as expected; not counted.",
    "回復できない障害と長い作業: {of} 項目中 {passed} 項目が期待どおりでした (合否には数えません)。",
)
OPTIONAL: Mapping[RowKind, LocalizedText] = MappingProxyType(
    {
        RowKind.SERVER: LocalizedText(
            "MCP servers: {passed} of {of} as expected; not counted.",
            "MCP サーバー: {of} 項目中 {passed} 項目が期待どおりでした (合否には数えません)。",
        ),
        RowKind.TEAM: LocalizedText(
            "Members: {passed} of {of} as expected; not counted.",
            "メンバー: {of} 項目中 {passed} 項目が期待どおりでした (合否には数えません)。",
        ),
        RowKind.WORKTREE: LocalizedText(
            "Worktrees: {passed} of {of} as expected; not counted.",
            "ワークツリー: {of} 項目中 {passed} 項目が期待どおりでした (合否には数えません)。",
        ),
    }
)
NOT_KEPT = LocalizedText("the work is lost, or in the wrong folder", "作業が失われたか、別のフォルダーにあります")
MISSING = LocalizedText("Missing:", "足りないもの:")
NOT_STARTED = LocalizedText(
    "Without a fault the program does not answer yet, so nothing else was played.",
    "障害がなくてもまだ答えられないため、ほかの項目は実行していません。",
)
PASSED = LocalizedText("The final exam is passed.", "最終試験に合格です。")
FAILED = LocalizedText("The final exam is not passed yet.", "最終試験にはまだ合格していません。")
PART = LocalizedText(
    "These are {count} of {of} parts; only the whole exam can be passed.",
    "全 {of} 項目のうち {count} 項目だけの結果です。合格できるのは試験全体だけです。",
)
NEXT = LocalizedText("Next: harness learn {chapter}", "次へ: harness learn {chapter}")
MOST_TEXT = 100
"""Characters of the program's words in one line."""


def final_exam(settings: Settings, options: Namespace, out: TextIO) -> int:
    """Run the exam and report it; returns 0 if it is passed. Raises HarnessError."""
    if options.folder or options.hint or options.json:
        raise ProgramError("--final takes a program, and no FOLDER, --hint or --json.")
    program = Program.parse(options.final, Path.cwd(), options.continue_with)
    names = _chosen(options.parts)
    language = options.language or Progress.of(settings.state_dir).language or "en"
    try:
        result = asyncio.run(_report(program, names, options.final, language, out))
    except OSError as error:
        raise ProgramError(f"{options.final} cannot be started: {error.strerror or error}.") from error
    return 0 if result.passed else 1


def _chosen(words: str | None) -> tuple[str, ...]:
    wanted = [word.strip() for word in (words or "").split("/") if word.strip()]
    names = tuple(name for name in PARTS if not wanted or any(word in name for word in wanted))
    if not names:
        raise ProgramError(f"No part is called {words!r}; docs/exam.md lists them.")
    return names


async def _report(program: Program, names: Sequence[str], called: str, language: Language, out: TextIO) -> ExamResult:
    print(BEGINS.into(language).format(program=visible(called), count=len(names)), file=out, flush=True)
    if any(row_of(name).is_silent for name in names):
        print(SILENT.into(language), file=out, flush=True)
    played: list[Played] = []
    status = _StatusLine(len(names), language)
    ticking = asyncio.create_task(status.tick())
    try:
        async with aclosing(play_exam(program, names)) as parts:
            async for part in parts:
                played.append(part)
                status.clear()
                _write(part_lines(part, language), out)
                out.flush()
                status.show(len(played))
    finally:
        ticking.cancel()
        status.clear()
    result = ExamResult(tuple(played), len(names))
    _write(summary_lines(result, language), out)
    return result


def _write(lines: Iterable[str], out: TextIO) -> None:
    width = shutil.get_terminal_size().columns if out.isatty() else None
    for line in lines:
        out.writelines(f"{each}\n" for each in (folded(line, width) if width else (line,)))


def folded(line: str, width: int) -> Iterator[str]:
    """A line in lines of at most `width` cells, the later ones indented. Japanese is broken anywhere."""
    from rich.cells import cell_len

    indent = " " * (len(line) - len(line.lstrip()) + 2)
    room = max(10, width - len(indent))
    now = ""
    for token in re.findall(rf"[!-~]{{1,{room}}} *|[^ -~][、。」)）…”:]*| +", line):
        if now.strip() and cell_len(now) + cell_len(token.rstrip()) > width:
            yield now.rstrip()
            now = indent
        now += token
    yield now.rstrip()


class _StatusLine:
    """How far the exam is, on a line of standard error that is overwritten; nothing where that is no terminal."""

    def __init__(self, of: int, language: Language) -> None:
        self._of = of
        self._language = language
        self._done = 0
        self._began = time.monotonic()
        self._shows = sys.stderr.isatty()

    async def tick(self) -> None:
        """Count the seconds until cancelled."""
        while self._shows:
            self.show(self._done)
            await asyncio.sleep(1)

    def show(self, done: int) -> None:
        """Show how many parts are done."""
        self._done = done
        seconds = int(time.monotonic() - self._began)
        self._write(PROGRESS.into(self._language).format(done=done, of=self._of, seconds=seconds))

    def clear(self) -> None:
        """Remove the line."""
        self._write("")

    def _write(self, text: str) -> None:
        if self._shows:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def name_of(name: str, language: Language) -> str:
    """The name of a part."""
    return NAMES[name] if language == "ja" else name


def part_lines(part: Played, language: Language) -> Iterator[str]:
    """The observations in one part, and the missing mechanisms."""
    mark = "✓" if part.verdict.passed else "✗"
    separator = "、" if language == "ja" else ", "
    name, seen, said = name_of(part.name, language), separator.join(_seen(part, language)), _said(part, language)
    if part.verdict.passed:
        yield f"{mark} {name} · {separator.join(filter(None, (seen, said)))}"
        return
    yield f"{mark} {name}"
    yield from (f"    {line}" for line in (seen, said) if line)
    for missing in part.verdict.missing:
        yield f"    → {missing_line(missing, language)}"


def missing_line(missing: Mechanism, language: Language) -> str:
    """A missing mechanism and where it is taught."""
    return f"{missing.text.into(language)}: {missing.where}"


def summary_lines(result: ExamResult, language: Language) -> Iterator[str]:
    """The result of the whole exam."""
    yield ""
    if not result.started:
        yield NOT_STARTED.into(language)
        yield FAILED.into(language)
        return
    faults, checks, others = result.faults, result.checks, result.others
    if faults:
        survived = sum(part.verdict.passed for part in faults)
        yield SURVIVED.into(language).format(survived=survived, of=len(faults), needed=result.needed)
    yield VIOLATIONS.into(language).format(count=result.violations)
    optional = ((OPTIONAL[kind], parts) for kind, parts in result.optional.items())
    for template, parts in ((CHECKS, checks), (OTHERS, others), *optional):
        if parts:
            passed = sum(part.verdict.passed for part in parts)
            yield template.into(language).format(passed=passed, of=len(parts))
    if result.missing:
        yield ""
        yield MISSING.into(language)
    for missing, names in result.missing.items():
        yield f"  {missing_line(missing, language)}"
        yield f"      {('、' if language == 'ja' else '; ').join(name_of(name, language) for name in names)}"
    yield ""
    if not result.is_whole:
        yield PART.into(language).format(count=result.of, of=len(PARTS))
        return
    yield (PASSED if result.passed else FAILED).into(language)
    if result.missing:
        yield NEXT.into(language).format(chapter=next(iter(result.missing)).where)


def _seen(part: Played, language: Language) -> Iterator[str]:
    match part.seen:
        case Observed() as seen:
            yield from _observed(part, seen, language)
        case Continued() as seen:
            if seen.after.requests:
                yield LOST.into(language).format(lost=seen.lost, of=seen.of)
            if seen.reran:
                yield RERAN.into(language)
            yield from _observed(part, seen.after, language)
        case Ended(had_command=False):
            yield NO_COMMAND.into(language)
        case Ended() as seen:
            yield (ENDED if seen.ended else NOT_ENDED).into(language).format(seconds=seen.seconds)
            names = ", ".join(visible(name) for name in seen.left)
            yield LEFT.into(language).format(names=names) if names else NOTHING_LEFT.into(language)


def _observed(part: Played, seen: Observed, language: Language) -> Iterator[str]:
    row = row_of(part.name)
    yield REQUESTS.into(language).format(count=seen.requests) if seen.requests else NO_REQUEST.into(language)
    if seen.exit_code is not None:
        yield EXIT.into(language).format(code=seen.exit_code)
    else:
        yield (ENDLESS if seen.endless else TIMED_OUT).into(language).format(seconds=round(seen.seconds))
    if row.answer is not None and row.kind is not RowKind.HOPELESS:
        what = shown(seen.stdout, row.answer)
        yield ON_STDOUT[what].into(language).format(text=_short(seen.stdout))
    if seen.violations:
        yield INVALID.into(language).format(text=_short(seen.violations[0]))
    if not seen.kept:
        yield NOT_KEPT.into(language)
    if part.kind is not None and seen.rounds is not None and seen.rounds > row.rounds:
        yield RAN.into(language).format(count=seen.rounds, wanted=row.rounds)


def _said(part: Played, language: Language) -> str:
    """The last line of standard error, or of standard output where no answer is expected; empty if irrelevant."""
    seen = part.seen.after if isinstance(part.seen, Continued) else part.seen
    if not isinstance(seen, Observed) or (part.verdict.passed and part.kind is not RowKind.HOPELESS):
        return ""
    if words := _short(seen.stderr):
        return f"stderr: {words}"
    if part.kind is not RowKind.HOPELESS:
        return ""
    words = _short(seen.stdout)
    return f"stdout: {words}" if words else SAID_NOTHING.into(language)


def _short(text: str) -> str:
    """The last line, in quotes; empty if there is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    line = visible(lines[-1])
    return f"“{line[:MOST_TEXT]}…”" if len(line) > MOST_TEXT else f"“{line}”"
