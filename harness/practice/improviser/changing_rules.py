# ruff: noqa: E501 - a row of the table reads best as one row
"""Intents that write or run something."""

import re
import shlex

from harness.practice.improviser.drafting import content_for, wrapped
from harness.practice.improviser.goals import (
    AppendText,
    Aspect,
    CreateFile,
    Goal,
    ReadFile,
    ReplaceText,
    RunCommand,
    RunTests,
    SaveReport,
    Talk,
    Topic,
)
from harness.practice.improviser.memory import Memory
from harness.practice.improviser.mentions import Sentence
from harness.practice.improviser.rules import NEVER, Meaning, Rule, rule

_RUNNERS = {
    ".py": "python3", ".sh": "bash", ".js": "node", ".mjs": "node", ".rb": "ruby", ".pl": "perl", ".ts": "npx tsx", ".php": "php",
}  # fmt: skip
_REPLACE = (
    re.compile(
        r"(?:replace|change|substitute|rename|edit|set)\s+(?:the\s+)?(?:value\s+of\s+)?(?:text|words?|string|line)?\s*(?P<old>.+?)\s+(?:with|by|to|into|for)\s+(?P<new>.+?)(?:\s+(?:in|inside|of|within)\s+(?:the\s+file\s+)?\S+)?$",
        re.I,
    ),
    re.compile(
        r"(?:in\s+\S+,?\s+)?(?:replace|change|substitute)\s+(?P<old>.+?)\s+(?:with|by|to|into)\s+(?P<new>.+)$", re.I
    ),
    re.compile(
        r"(?:.*(?:の中|内|で|の|にある)、?)?(?P<old>\S+?)(?:という\S*)?を、?(?P<new>\S+?)(?:に|へ|と)(?:置き?換え|置換|変更|変え|書き?換え|直し)"
    ),
)
_DELETED = re.compile(
    r"(?:please )?(?:delete|remove|rm) (?:the files? )?(?:«»|⟦⟧)(?:(?:,| and|, and) (?:«»|⟦⟧))*[.!]?"
    r"|(?:«»|⟦⟧)(?:(?:と|、)(?:«»|⟦⟧))*(?:を|という(?:名前の)?ファイルを)?(?:削除|消)(?:して|しろ)(?:ください|下さい)?[。！!]?"
)
"""The only forms in which a file is deleted: its name, and nothing else in the sentence."""
_TESTS = re.compile(r"\btests?\b|\btest suite\b|\bpytest\b|テスト")
_SHELL_START = re.compile(
    r"(?:[A-Z_]+=\S+ )*(?:python3?|pytest|pip3?|uv|git|ls|cat|echo|make|npm|npx|node|cargo|go|bash|sh|grep|find|wc|head|tail|mkdir|rm|cp|mv|"
    r"touch|pwd|date|whoami|env|which|ruff|mypy|df|du|ps|sleep|true|false|exit|curl|sort|uniq|sed|awk|printf|test|tree|uname|seq)\b"
)


def _run(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    command = _command_in(clause)
    if command is not None:
        return (RunCommand(command),)
    if _TESTS.search(clause.words) and not clause.paths:
        return (RunTests(),)
    if paths := memory.paths_for(clause):
        return tuple(RunCommand(command) for path in paths[:1] if (command := runner_for(path)))
    return ()


def _command_in(clause: Sentence) -> str | None:
    """A command line that is quoted or follows the verb."""
    for text in clause.quoted:
        if text not in clause.paths or text.startswith(("./", "/")):
            return text.strip() or None
    if clause.quoted and clause.quoted[0] in clause.paths:
        return None
    rest = re.match(
        r"(?:please )?(?:run|execute|try|start)\s+(?:the\s+)?(?:shell\s+)?(?:command\s*:?\s+)?(?P<command>.+)",
        clause.plain,
        re.I | re.S,
    )
    text = rest["command"].strip() if rest else ""
    if not text:
        japanese = re.match(
            r"(?P<command>[\x20-\x7e]+?)\s*(?:という)?(?:コマンド)?を?(?:実行|走らせ|動かし|起動)", clause.plain
        )
        text = japanese["command"].strip() if japanese else ""
    return text if _SHELL_START.match(text) or text.startswith("./") else None


def runner_for(path: str) -> str | None:
    """The command that runs a file, by its ending; None for a file that is no program."""
    ending = path[path.rfind(".") :] if "." in path else ""
    runner = _RUNNERS.get(ending)
    return f"{runner} {shlex.quote(path)}" if runner else None


def _literal(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    return (RunCommand(clause.plain.lstrip("$! ").strip()),)


def _tests(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    fix = bool(re.search(r"\b(?:fix|repair|make .* pass)\b|直し|修正", clause.words))
    return () if clause.paths and not fix else (RunTests(wants_fix=fix),)


def _replace(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    targets, texts = clause.targets_and_texts
    paths = targets or memory.paths_for(clause, default=True)
    if len(clause.quoted) >= 3 and not clause.bare_paths:
        paths, texts = clause.quoted[2:3], clause.quoted[:2]
    if not paths:
        return ()
    if len(texts) >= 2:
        return tuple(ReplaceText(path, texts[0], texts[1]) for path in paths[:1])
    for pattern in _REPLACE:
        if (match := pattern.search(clause.text.rstrip(" .。!"))) and (old := clause.restored(match["old"])):
            new = clause.restored(match["new"])
            setting = (
                re.match(r"[\w.-]+$", old) is not None and re.search(r"\b(?:change|set)\b|変", clause.words) is not None
            )
            return (ReplaceText(paths[0], old, new, setting),) if paths[0] not in (old, new) else ()
    return ()


def _append(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    targets, texts = clause.targets_and_texts
    paths = targets or memory.paths_for(clause, default=True)
    if not paths:
        return ()
    return (AppendText(paths[-1], texts[0]),) if texts else ()


def _save(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    """ "write a summary of A and B to C": the last file named is the one to write."""
    if not clause.paths or clause.texts:
        return ()
    *sources, target = clause.paths
    japanese = re.search(r"(?P<target>\S+)に(?:、)?[^«»]*(?:書|保存|出力|まとめ)", clause.text)
    if japanese and (
        named := [path for path in clause.paths if re.search(rf"{re.escape(path)}\s*(?:に|へ)", clause.text)]
    ):
        target = named[-1]
        sources = [path for path in clause.paths if path != target]
    return (SaveReport(target, _summaries(tuple(sources))),)


def _summaries(paths: tuple[str, ...]) -> tuple[Goal, ...]:
    return tuple(ReadFile(path, Aspect.SUMMARY) for path in paths)


def _create(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    paths, _ = clause.targets_and_texts
    if (
        not paths
        and re.search(r"\bscript\b|\bprogram\b|スクリプト|プログラム", clause.words)
        and re.search(r"python|パイソン", clause.words)
    ):
        paths = ("script.py",)
    sources = tuple(path for path in paths if _is_source(path, clause))
    if sources == paths:
        return (Talk(Topic.BEYOND),) if re.match(r"(?:create|write|generate|make)\b", clause.words) and sources else ()
    paths = tuple(path for path in paths if path not in sources)
    again = bool(re.search(r"\boverwrite\b|\breplac(?:e|ing)\b|上書き", clause.words))
    return tuple(CreateFile(path, content_for(path, clause), replace=again) for path in paths[:6])


def _is_source(path: str, clause: Sentence) -> bool:
    """The file is what it is about, not what is to be made: "write a test for app.py"."""
    return (
        re.search(rf"\b(?:for|about|of|from|on|using|like|in)\s+(?:the\s+)?{re.escape(path)}", clause.text, re.I)
        is not None
    )


def _folder(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    name = next(iter(clause.texts), None) or clause.folder
    return (RunCommand(f"mkdir -p {shlex.quote(name)}"),) if name else ()


def _delete(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    paths = clause.paths if _DELETED.fullmatch(clause.words.strip()) else ()
    return (RunCommand("rm -- " + " ".join(shlex.quote(path) for path in paths)),) if paths else ()


def _moved(program: str) -> Meaning:
    def meaning(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
        paths = clause.paths
        if len(paths) == 1 and clause.folder:
            paths = (paths[0], f"{clause.folder}/")
        elif len(paths) == 1 and memory.path and memory.path != paths[0]:
            paths = (memory.path, paths[0])
        return (RunCommand(f"{program} -- {shlex.quote(paths[0])} {shlex.quote(paths[1])}"),) if len(paths) == 2 else ()

    return meaning


def _overwrite(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    """ "overwrite it": the last file that was to be created, now without asking."""
    made = [goal for goal in memory.goals if isinstance(goal, CreateFile)]
    return tuple(CreateFile(goal.path, goal.content, replace=True) for goal in made)


def _set_content(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    """ "write “…” to notes.txt"."""
    targets, texts = clause.targets_and_texts
    return (CreateFile(targets[-1], wrapped(texts[0])),) if targets and texts else ()


CHANGING: tuple[Rule, ...] = (
    rule(r"^[$!] ?\S", r"^[$!] ?\S", _literal),
    rule(r"\bfix\b.*\btests?\b|\bmake\b.*\btests? pass\b", r"テスト.*(?:直し|修正)", _tests),
    rule(r"^(?:run|execute|start|try|launch)\b|\brun\b.*(?:⟦⟧|«»|\bit\b|\btests?\b)", r"実行|走らせ|動かし|起動し|流して|回して", _run),
    rule(r"\b(?:do|does|are|did)\b.*\btests?\b.*\b(?:pass|green|work|fail)|^(?:re)?test(?: it| this| the project)?\W*$", r"テスト.*(?:通|パス|確認|して|お願い)", _tests),
    rule(r"^overwrite (?:it|that|the file)|^yes(?:,? overwrite.*|,? please)?\W*$", r"^上書きして|^はい(?:、?お願いします)?\W*$", _overwrite),
    rule(r"\b(?:replace|substitute)\b|\b(?:change|rename|edit|set)\b.*\b(?:to|with|into|by)\b", r"置き?換え|置換|書き?換え|(?:変更|変え|直し)", _replace),
    rule(r"\b(?:append|add|insert)\b.*\b(?:to|into|in|at)\b", r"追加|追記|足し|付け加え", _append),
    rule(r"\b(?:write|put)\b.*⟦⟧.*\b(?:to|into|in)\b", r"«».*に.*⟦⟧.*(?:書|保存)|⟦⟧.*(?:を|と).*«».*に.*(?:書|保存)", _set_content),
    rule(r"\b(?:write|save|put|store)\b.*\b(?:summary|summaries|overview|results?|list|report|output|it|that|them|this|headings?|answer)\b.*\b(?:to|in|into|as)\b", r"(?:要約|まとめ|概要|結果|一覧|リスト|内容|それ).*«».*(?:書|保存|出力)|«».*(?:に|へ).*(?:要約|まとめ|概要|結果|一覧|リスト|内容).*(?:書|保存|出力)", _save),
    rule(r"\b(?:create|make|mkdir|new)\b.*\b(?:folder|directory)\b", r"(?:フォルダー?|ディレクトリー?).*(?:作|作成)", _folder),
    rule(r"\b(?:create|make|write|generate|new|touch|save)\b", r"作っ|作成|作れ|新規|書いて(?!あ|い)|生成|保存", _create),
    rule(r"\b(?:delete|remove|rm)\b", r"削除|消し", _delete),
    rule(r"\b(?:move|rename|mv)\b", r"移動|改名|名前を", _moved("mv")),
    rule(r"\b(?:copy|cp)\b|\bduplicate\b", r"コピー|複製", _moved("cp")),
    rule(r"^(?:(?:python3?|pytest|ruff|mypy)(?: [-\w./\" «]|$)|ls -|cat -|head -|tail -|wc -|grep -|echo |npm |cargo |uv |pip )[\x20-\x7e«»⟦⟧]*$", NEVER, _literal),
)  # fmt: skip
"""First match wins."""
