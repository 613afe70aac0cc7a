# ruff: noqa: E501 - a row of the table reads best as one row
"""Intents that only look: files, lists, searches, git."""

import re

from harness.practice.improviser.goals import (
    AboutProject,
    Aspect,
    CompareFiles,
    FindFiles,
    Goal,
    ListFiles,
    ReadFile,
    RunCommand,
    SearchText,
    Talk,
    Topic,
)
from harness.practice.improviser.memory import Memory
from harness.practice.improviser.mentions import Sentence
from harness.practice.improviser.rules import NEVER, Meaning, Rule, rule

_MOST_FILES_AT_ONCE = 8
_MARKERS = re.compile(r"(?<![A-Za-z])(TODO|FIXME|XXX|HACK|BUG)s?(?![A-Za-z.])")
_SEARCHED = (
    re.compile(
        r"(?:search(?: for)?|grep(?: for)?|look for|find|occurrences of|where (?:is|are|does)|mentions? of)\s+(?P<word>.+)",
        re.I,
    ),
    re.compile(
        r"(?P<word>[^\s、。「」のをに]+)\s*(?:という(?:語|単語|文字列|言葉))?\s*(?:を|が|は|の).*(?:探|検索|調べ|どこ|見つけ|grep)",
        re.I,
    ),
)
_NOISE_BEFORE = re.compile(
    r"^(?:(?:all|any|the|every|each|word|words|text|string|term|lines?|places?|occurrences?|uses?|usages?|of|with|containing|contain|for|me|where|that|which)\s+)+",
    re.I,
)
_NOISE_AFTER = re.compile(r"\s+(?:(?:in|under|inside|within|across|from)\s.*|(?:is|are|occurs?|used|defined|mentioned|called)\b.*|please|anywhere|comments?)$", re.I)  # fmt: skip


def _aspect(aspect: Aspect) -> Meaning:
    def meaning(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
        paths = memory.paths_for(clause, default=True)
        numbers = [int(number) for number in clause.numbers if number >= 1]
        lines = min(numbers[0], 1_000) if numbers else 10
        return tuple(ReadFile(path, aspect, lines) for path in paths[:_MOST_FILES_AT_ONCE])

    return meaning


def _show(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    paths = memory.paths_for(clause)
    if paths:
        return tuple(ReadFile(path) for path in paths[:_MOST_FILES_AT_ONCE])
    return ()


def _compare(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    paths = clause.paths
    if len(paths) == 1 and memory.path and memory.path != paths[0]:
        paths = (memory.path, paths[0])
    elif not paths and len(memory.choices) == 2:
        paths = memory.choices
    return (CompareFiles(paths[0], paths[1]),) if len(paths) >= 2 else ()


def _list(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    if clause.glob:
        return (FindFiles(clause.glob, clause.folder),)
    return (ListFiles(clause.folder),)


def _find_files(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    if clause.glob:
        return (FindFiles(clause.glob, clause.folder),)
    if clause.paths:
        return tuple(FindFiles(f"**/{path}", clause.folder) for path in clause.paths)
    if re.search(r"files?\s+(?:called|named)|という(?:名前の)?ファイル", clause.words) and clause.texts:
        return (FindFiles(f"**/*{clause.texts[0]}*", clause.folder),)
    if kind := re.search(
        r"\b(?:the|an?|any) (?P<kind>[a-z][\w-]+) files?\b|(?P<ja>[\w-]+)ファイル", clause.words, re.A
    ):
        return (FindFiles(f"**/*{kind['kind'] or kind['ja']}*", clause.folder),)
    return ()


def _count_files(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    return (FindFiles(clause.glob or "**/*", clause.folder, count_only=True),)


def _count_lines(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    if paths := memory.paths_for(clause, default=clause.glob is None and clause.folder is None):
        return tuple(ReadFile(path, Aspect.LENGTH) for path in paths)
    pattern = (clause.glob or "*").rsplit("/", 1)[-1]
    return (
        RunCommand(f"find {clause.folder or '.'} -type f -not -path '*/.*' -name '{pattern}' -exec cat {{}} + | wc -l"),
    )


def _searched_word(clause: Sentence) -> str | None:
    texts = [text for text in clause.texts if "*" not in text]
    if texts:
        return texts[0]
    if marker := _MARKERS.search(clause.text):
        return marker[1]
    for pattern in _SEARCHED:
        if match := pattern.search(clause.text):
            word = _NOISE_AFTER.sub("", _NOISE_BEFORE.sub("", match["word"].strip(" .?!。？！")))
            word = _NOISE_AFTER.sub("", word).strip(" .?!,。、")
            if word and "\ue000" not in word and len(word) <= 80 and word not in clause.paths:
                return word
    return None


def _search(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    word = _searched_word(clause)
    if word is None or re.fullmatch(r"(?:files?|them|it|bugs?)", word, re.I):
        return ()
    paths = [path for path in clause.paths if path != word]
    folder = clause.folder if clause.folder != word else None
    count = bool(re.search(r"how (?:many|often)|何(?:回|個|件|箇所)|いくつ", clause.words))
    return (SearchText(word, paths[0] if paths else folder, clause.glob, count_only=count),)


def _command(command: str) -> Meaning:
    return lambda clause, memory: (RunCommand(command),)


def _log(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    count = next((int(number) for number in clause.numbers if 1 <= number <= 100), 5)
    if (
        re.search(r"\b(?:the )?(?:last|latest) commit\b(?!s)|(?:最後|最新|直近)のコミット(?!を\d)", clause.words)
        and not clause.numbers
    ):
        count = 1
    return (RunCommand(f"git log --oneline -n {count}"),)


def _git_literal(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    safe = re.match(
        r"git (?:status|log|diff|show|branch|remote -v|blame|stash list|tag)\b[^;&|<>$`\n]*$", clause.plain, re.I
    )
    return (RunCommand(clause.plain.strip(" .?!")),) if safe else ()


def _nothing_named(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    return (Talk(Topic.NO_REFERENT),)


LOOKING: tuple[Rule, ...] = (
    rule(r"^git [a-z]", NEVER, _git_literal),
    rule(r"\b(?:which|what|current|on)\b.*\bbranch\b|\bbranch (?:am i|are we)\b", r"ブランチ", _command("git branch --show-current")),
    rule(r"\bbranches\b", NEVER, _command("git branch --all")),
    rule(r"\bcommits?\b|\bgit (?:log|history)\b", r"コミット|履歴", _log),
    rule(r"\bgit diff\b|\bwhat (?:has |have i |did i )?changed?\b|\buncommitted\b", r"git.*差分|何を変更|未コミット|変更(?:点|内容)", _command("git diff --stat HEAD")),
    rule(r"\bgit\b.*\b(?:status|state|clean)\b|\bworking tree\b", r"git.*(?:状態|状況|ステータス|status)", _command("git status --short --branch")),
    rule(r"\b(?:compare|diff|differ|differences?)\b", r"比較|比べ|違い|差分", _compare),
    rule(r"\bhow (?:many|often)\b.*\b(?:occur|times|does|appear|mention)|\bcount\b.*\b(?:occurrences|todos?)\b|\bhow many (?:todo|fixme)s?\b", r"(?:何回|何箇所|何件)", _search),
    rule(r"\b(?:how many|number of|count)\b.*\blines?\b|\bline count\b|\bhow (?:long|big|large)\b|\bwc -l\b", r"何行|行数|行の数", _count_lines),
    rule(r"\b(?:how many|number of|count)\b.*\b(?:files?|modules?|scripts?)\b", r"ファイル(?:の)?数|ファイル(?:は|が)(?:何|いくつ)|(?:何|いくつ).*ファイル.*あ", _count_files),
    rule(r"\b(?:headings?|headlines?|sections?|outline|table of contents)\b", r"見出し|目次|章立て", _aspect(Aspect.HEADINGS)),
    rule(r"\b(?:functions?|methods?|defs?)\b", r"関数|メソッド", _aspect(Aspect.FUNCTIONS)),
    rule(r"\bclass(?:es)?\b", r"クラス", _aspect(Aspect.CLASSES)),
    rule(r"\b(?:first|top)\b.*\blines?\b|\bhead of\b|\bbeginning of\b|\bstart of\b", r"(?:最初|先頭|冒頭|はじめ)(?:の|から)?.*(?:行|部分)|冒頭", _aspect(Aspect.FIRST)),
    rule(r"\blast\b.*\blines?\b|\btail of\b|\bend of\b", r"(?:最後|末尾|終わり)(?:の|から)?.*行", _aspect(Aspect.LAST)),
    rule(r"\b(?:this|the) (?:project|repo(?:sitory)?|code ?base)\b.*\b(?:about|do|for)\b|\b(?:explain|describe|summari[sz]e|overview of|what is) (?:this|the) (?:project|repo(?:sitory)?|code ?base)\b", r"(?:この|本)?(?:プロジェクト|リポジトリ)(?:は|の|を|について).*(?:何|なに|説明|概要|教え|要約|まとめ)", lambda clause, memory: (AboutProject(),)),
    rule(r"\b(?:summari[sz]e|summary|overview|gist|tl;?dr|explain|describe)\b|\btell me (?:more )?about (?:«»|⟦⟧|it\b)|\bwhat (?:does|is) (?:«»|⟦⟧|it\b|that file|this file).*\b(?:do|about|for)\b|\bwhat is (?:«»|⟦⟧)", r"要約|まとめて|概要|要点|説明し|何をする|何をして|どんな内容", _aspect(Aspect.SUMMARY)),
    rule(r"\b(?:list|show|which|what|display|give me|are there|see|print|find)\b.*\bfiles\b|^(?:ls|dir|tree)\b|\blist\b.*\b(?:folder|directory|contents?|everything)\b|^list\b|\bwhat(?:'s| is| do we have)\b.*\b(?:in|inside|under)\b.*(?:folder|directory|/|here)|\bdirectory listing\b|\bshow\b.*\b(?:folder|directory|tree)\b", r"ファイル(?:名)?(?:の)?(?:一覧|リスト)|(?:ファイル|中身|フォルダー?|ディレクトリー?)(?:たち)?(?:を|は)?(?:全部|すべて)?(?:一覧|リスト|列挙|並べ)|どんなファイル|何のファイル|ファイルを(?:見せ|表示|教え|全部|すべて|一覧)|(?:フォルダー?|ディレクトリー?|ここ|中)に(?:は)?(?:何|なに)が|一覧(?:を|に|表示|し)|(?<!»)\s*(?:の中|配下|以下)(?:を|は)?(?:見せ|表示|教え)|リストアップ", lambda clause, memory: () if _word_in_files(clause) else _list(clause, memory)),
    rule(r"\b(?:find|search|locate|which|where)\b.*(?:\bfiles?\b|\*|«»)|\bwhere is «»", r"(?:ファイル|«»|\*).*(?:探|検索|見つけ|どこ)", lambda clause, memory: () if _word_in_files(clause) else _find_files(clause, memory)),
    rule(r"\b(?:find|search|grep|look for|locate|occurrences?|mentions?|where (?:is|are|does|do))\b|^todos?\b|\b(?:any|a) (?:todo|fixme)s?\b|\b(?:contain|containing|mention)\b", r"探|検索|調べ|見つけ|どこ|grep|含む|含んで|(?:todo|fixme).*(?:一覧|教え|見せ|あ)", _search),
    rule(r"\b(?:list|show)\b.*\btodos?\b", NEVER, _search),
    rule(r"\b(?:read|show|open|cat|view|display|print|see|look|contents?|what'?s in|what is in)\b|^and\b|\bwhat does (?:«»|⟦⟧|it\b|the «») say|\bwhat(?:'s| is) (?:inside|in)\b|^(?:the )?(?:first|second|third|fourth|fifth|last|other)\b", r"読|開|見せ|見て|表示|内容|中身|何が書|なんと書|書いてあ|書かれて|番目|つ目|教えて|もう一方", _show),
    rule(r"\b(?:read|open|cat|view|summari[sz]e)\b.*\b(?:it|that|this|file|one)\b|^(?:read|open|summari[sz]e)$", r"(?:それ|その|ファイル|番目).*(?:読|開|要約)", _nothing_named),
    rule(r"\b(?:what|which) (?:time|date|day)\b|\btoday'?s date\b", r"何時|今日の日付|何日", _command("date")),
    rule(r"\bwhere am i\b|\b(?:current|working|which) (?:folder|directory)\b|^pwd$", r"(?:現在|今|いま)の(?:フォルダー?|ディレクトリー?|場所)|ここはどこ", _command("pwd")),
    rule(r"\bpython version\b|\bversion of python\b|\bwhich python\b", r"python.*バージョン", _command("python3 --version")),
    rule(r"^(?:«»|⟦⟧)[?.]?$", r"^«»は?[?？。]?$", lambda clause, memory: tuple(ReadFile(path) for path in clause.paths)),
)  # fmt: skip
"""First match wins, so what is more special stands further up."""


def _word_in_files(clause: Sentence) -> bool:
    """The clause asks for text in files ("find TODO in all *.py files"), not for the files themselves."""
    looked_for = re.search(
        r"\b(?:containing|contain|mention|that have|grep|search)\b|含|検索|\bin\b.*(?:\bfiles\b|\*)", clause.words
    )
    has_word = bool(_MARKERS.search(clause.text)) or any("*" not in text for text in clause.texts)
    named = re.search(r"\bfiles?\s+(?:called|named)|という(?:名前の)?ファイル", clause.words)
    if named:
        return False
    return has_word or bool(
        looked_for and re.search(r"\b(?:find|search|grep|look)\b|検索|探", clause.words) and _plain_word(clause)
    )


def _plain_word(clause: Sentence) -> bool:
    word = _searched_word(clause)
    return word is not None and not re.search(r"files?\b|\*|ファイル", word, re.I)
