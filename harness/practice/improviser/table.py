# ruff: noqa: E501 - a form reads best in one piece
"""Everything that the practice model can be asked for: a closed list of sentences in two languages.

A sentence is held against the forms as a whole. One that fits none is refused, and nothing is done. The page
docs/practice-model.md and the answer to "what can you do?" are made from this table.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from harness.practice.improviser import sentence_goals as means
from harness.practice.improviser.context import Context
from harness.practice.improviser.forms import Found
from harness.practice.improviser.goals import Aspect, Goal, Topic
from harness.practice.improviser.phrases import Phrase

Meaning = Callable[[Found, Context], tuple[Goal, ...]]
"""Makes goals of a sentence that fits; an empty tuple means that it names nothing that there is, and it is refused."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing that can be asked for."""

    name: Phrase
    english: tuple[str, ...]
    japanese: tuple[str, ...]
    example: Phrase
    meaning: Meaning
    only_order: bool = False
    """It changes something, so that a question ("should I …?", "can you …?") is no order for it."""
    alone: bool = False
    """Not as one step of several."""
    raw: bool = False
    """Matched as typed, courtesy and punctuation included, and only alone."""
    suggested: bool = False
    """Its example stands beside a refusal."""


def _about(english: str, japanese: str, example: str, aspect: Aspect, *more: str) -> Intent:
    """A thing that a file has several of."""
    return Intent(
        Phrase(f"the {english} of a file", f"ファイルの{japanese}"),
        (
            f"[tell me|show me|give me|list|show|what are] [the] {english} (of|in) {{one}}",
            f"(what|which) {english} (are in|are there in) {{one}}",
            f"(what|which) {english} does {{one}} (define|have|contain)",
            f"(tell me|show me|give me|show|list|what are) (its|the) {english}",
            *more,
        ),
        (
            f"{{one}}の{japanese}を(教えて|見せて|一覧して|表示して)",
            f"{{one}}に[は]どんな{japanese}がありますか",
            f"[その]{japanese}を(教えて|見せて|一覧して|表示して)",
        ),
        Phrase(f"read {example} and tell me its {english}", f"{example} を読んで{japanese}を教えて"),
        means.aspect(aspect),
    )


_SHOWN = "(見せて|教えて|表示して)"

INTENTS: tuple[Intent, ...] = (
    Intent(
        Phrase("list the files", "ファイルの一覧"),
        (
            "(list|show) [me] [all] [of] [the|my] files [here|in this folder|in here]",
            "(list|show) [me] [all] [the] files (in|inside|under|of) [the] [folder] {folder} [folder|directory]",
            "(what|which) files are (here|there|in this folder)",
            "(what is|what's) (here|in this folder)",
            "(what|which) files are [there] in [the] [folder] {folder} [folder|directory]",
            "ls [{folder}]",
        ),
        (
            "[すべての|全部の]ファイル(の一覧|のリスト|一覧)を(見せて|表示して|教えて|出して)",
            "[すべての|全部の]ファイルを(一覧して|リストして|一覧表示して|見せて|教えて)",
            "どんなファイルがありますか",
            "{folder}(の中|フォルダー|フォルダ|ディレクトリ)(の|にある)ファイルを(一覧して|リストして|見せて)",
            "{folder}(の中|フォルダー|フォルダ|ディレクトリ)(の|にある)ファイルの一覧を(見せて|表示して|教えて)",
            "{folder}の中を(見せて|一覧して)",
        ),
        Phrase("list the files", "ファイルの一覧を見せて"),
        means.list_files,
        suggested=True,
    ),
    Intent(
        Phrase("search the web", "ウェブを検索する"),
        (
            "(search|look on) the (web|internet) for {fact}",
            "(search for|look up|find) {fact} on the (web|internet)",
            "what does the (web|internet) say about {fact}",
        ),
        ("(ウェブ|インターネット)で{fact}を(検索して|調べて|探して)", "{fact}を(ウェブ|インターネット)で(検索して|調べて|探して)"),
        Phrase("search the web for harbour seals", "ウェブで harbour seals を検索して"),
        means.search_web,
    ),
    Intent(
        Phrase("read a web page", "ウェブページを読む"),
        ("(read|open|fetch|show) [me] [the] [page] {url}",),
        ("{url}を(読んで|開いて|見せて)",),
        Phrase("read https://wiki.practice.example/rain", "https://wiki.practice.example/rain を読んで"),
        means.fetch_page,
    ),
    Intent(
        Phrase("find files by name", "ファイルを名前で探す"),
        (
            "(find|list) [all] [the] {glob} [files] [in {folder}]",
            "(find|list|show) [me] [all] [the] {kind} files [in {folder}]",
        ),
        ("{glob}を(探して|検索して|一覧して)", "[すべての]{kind}[の]ファイルを(探して|検索して|一覧して|見せて)"),
        Phrase("find all markdown files", "マークダウンファイルを探して"),
        means.find_files,
    ),
    Intent(
        Phrase("count files", "ファイルを数える"),
        (
            "how many [{kind}] files are (there|here) [in {folder}]",
            "how many [{kind}] files are in {folder}",
            "count [all] [the] [{kind}] files [in {folder}]",
        ),
        ("[{kind}]ファイル(は|が)(いくつ|何個)ありますか", "[{kind}]ファイル(の数を教えて|を数えて)"),
        Phrase("how many files are there?", "ファイルはいくつありますか"),
        means.count_files,
    ),
    Intent(
        Phrase("read files", "ファイルを読む"),
        (
            "(read|show|open|cat|print|display) [me] [the] [file|files|contents of] {files}",
            "(what is|what's) in {files}",
            "what does [the] {file} say",
            "(read|open|show|show me) {one} [again]",
        ),
        (
            "{files}を(読んで|開いて|見せて|表示して|読み込んで)",
            "{file}の(内容|中身)を(見せて|教えて|表示して)",
            "{file}に[は]何が書いて(ありますか|あるか教えて)",
            "{one}を(読んで|開いて|見せて)",
        ),
        Phrase("read README.md", "README.md を読んで"),
        means.read,
    ),
    Intent(Phrase("read a file, by nothing but its name", "ファイル名だけ"), ("[and|what about|and what about] {one}",), ("{one}は",), Phrase("README.md", "README.md は?"), means.read, alone=True),
    replace(_about("headings", "見出し", "README.md", Aspect.HEADINGS), suggested=True),
    _about("functions", "関数", "app.py", Aspect.FUNCTIONS),
    _about("classes", "クラス", "app.py", Aspect.CLASSES),
    Intent(
        Phrase("the first lines of a file", "ファイルの最初の行"),
        ("[show|show me|print|read|give me] [the] first {n} (lines|line) (of|in) {one}", "[show|show me|print|read] the first line (of|in) {one}"),
        (f"{{one}}の(最初|先頭)の{{n}}行を{_SHOWN}",),
        Phrase("show the first 5 lines of README.md", "README.md の最初の5行を見せて"),
        means.aspect(Aspect.FIRST),
    ),
    Intent(
        Phrase("the last lines of a file", "ファイルの最後の行"),
        ("[show|show me|print|read|give me] [the] last {n} (lines|line) (of|in) {one}", "[show|show me|print|read] the last line (of|in) {one}"),
        (f"{{one}}の(最後|末尾)の{{n}}行を{_SHOWN}",),
        Phrase("show the last 3 lines of notes.txt", "notes.txt の最後の3行を見せて"),
        means.aspect(Aspect.LAST),
    ),
    Intent(
        Phrase("how many lines a file has", "ファイルの行数"),
        ("how many lines does {one} have", "how many lines are in {one}", "how (long|big) is {one}", "count the lines (of|in) {files}", "count its lines"),
        ("{one}(は|には)何行(ありますか|ですか)", "{files}の行数を(教えて|数えて)", "行数を(教えて|数えて)"),
        Phrase("how many lines does app.py have?", "app.py は何行ありますか"),
        means.aspect(Aspect.LENGTH),
    ),
    Intent(
        Phrase("a summary of files", "ファイルの要約"),
        ("(summarise|summarize|describe|explain) [the] [file|files] {files}", "(summarise|summarize|describe|explain|tell me about) {one}", "what does {one} do", "what is {file} about"),
        ("{files}を要約して", "{one}(の概要を教えて|を要約して|について説明して)"),
        Phrase("summarise README.md", "README.md を要約して"),
        means.aspect(Aspect.SUMMARY),
    ),
    Intent(
        Phrase("find text in files", "ファイルの中の文字列を探す"),
        (
            "(find|search|search for|look for|grep|grep for) [all|the word|the text] {word}",
            "(find|search|search for|look for|grep|grep for) [all|the word|the text] {word} in [the] {folder} [folder|directory]",
            "(find|search|search for|look for|grep|grep for) [all|the word|the text] {word} in [all] [the] {glob} files",
            "(find|search|search for|look for|grep|grep for) [all|the word|the text] {word} in [all] [the] {kind} files",
            "(find|search|search for|look for|grep|grep for) [all|the word|the text] {word} in {file}",
            "where is {word} (defined|used)",
        ),
        (
            "{word}[という文字列|という語]を(探して|検索して|調べて|含む行を探して)",
            "{folder}(の中|フォルダー|フォルダ|)で{word}を(探して|検索して)",
            "{file}(の中|)で{word}を(探して|検索して)",
            "{word}を含むファイルを(探して|教えて|検索して)",
        ),
        Phrase("find TODO in *.py files", "TODO を探して"),
        means.search,
        suggested=True,
    ),
    Intent(
        Phrase("compare two files", "二つのファイルを比べる"),
        ("(compare|diff) {one} (and|with|to) {other}", "what is the difference between {one} and {other}"),
        ("{one}と{other}を(比較して|比べて)", "{one}と{other}の違いを教えて"),
        Phrase("compare a.txt and b.txt", "a.txt と b.txt を比べて"),
        means.compare,
    ),
    Intent(
        Phrase("what the project is", "プロジェクトの概要"),
        ("what does (this|the) (project|repository|repo) do", "what is (this|the) (project|repository|repo) [about]", "(summarise|summarize|describe|explain) (this|the) (project|repository|repo)"),
        ("この(プロジェクト|リポジトリ)は何(ですか|をしますか)", "この(プロジェクト|リポジトリ)(の概要を教えて|について説明して)"),
        Phrase("what does this project do?", "このプロジェクトは何ですか"),
        means.project,
    ),
    Intent(Phrase("the branch of git", "git のブランチ"), ("(which|what) branch am I on", "(what is|what's|show) the current branch"), ("今[は]どのブランチですか", "今のブランチを教えて"), Phrase("which branch am I on?", "今どのブランチですか"), means.command("git branch --show-current")),
    Intent(Phrase("the last commits of git", "git の最後のコミット"), ("(show|list) [me] the (last|latest) {n} commits", "show [me] the (last|latest) commit"), ("(最後|最新|直近)のコミットを{n}件(見せて|教えて)", "(最後|最新|直近)のコミットを(見せて|教えて)"), Phrase("show the last 3 commits", "最後のコミットを3件見せて"), means.commits),
    Intent(Phrase("the state of git", "git の状態"), ("git status", "what is the git status"), ("gitの状態を(教えて|見せて)",), Phrase("git status", "git の状態を教えて"), means.command("git status --short --branch")),
    Intent(Phrase("what changed since the last commit", "最後のコミットからの変更"), ("git diff", "what changed since the last commit"), ("gitの差分を(教えて|見せて)",), Phrase("git diff", "git の差分を見せて"), means.command("git diff --stat HEAD")),
    Intent(
        Phrase("create a file; one that is there is left as it is", "ファイルを作る(既にあるファイルは変えない)"),
        (
            "(create|make|write) [the|a|a new|an empty] [file|text file|script|program] [called|named] {file}",
            "(create|make|write) [the|a|a new] [file|text file|script] [called|named] {file} (with|containing) [the] [text|content|contents|line] {text}",
            "(create|make|write) [the|a|a new] [file|text file|script] [called|named] {file}: {text}",
            "(create|make|write) [the|a|a new] [file|text file] [called|named] {file} (with|containing) {word}",
            "(create|make|write) [the|a|a new] [file|script|program] [called|named] {file} (that|which) (prints|says) {printed}",
            "(write|put|save) {text} (to|into|in) [the] [file] {file}",
        ),
        (
            "[空の]{file}を(作って|作成して)",
            "{text}と(書いた|書かれた){file}を(作って|作成して)",
            "{file}を(作って|作成して)、[内容は|中身は]{text}[と書いて|にして]",
            "内容が{text}の{file}を(作って|作成して)",
            "{file}に{text}(を|と)書いて",
            "{file}を(作って|作成して)、{printed_ja}と表示するようにして",
        ),
        Phrase("create notes.txt with the text “buy milk”", "「牛乳」と書いた notes.txt を作って"),
        means.create,
        only_order=True,
        suggested=True,
    ),
    Intent(
        Phrase("overwrite a file", "ファイルを上書きする"),
        ("overwrite [the] [file] {file} with [the] [text] {text}",),
        ("{file}を{text}で上書きして",),
        Phrase("overwrite notes.txt with “tea”", "notes.txt を「お茶」で上書きして"),
        means.overwrite,
        only_order=True,
    ),
    Intent(
        Phrase("add a line at the end of a file", "ファイルの末尾に一行足す"),
        ("(append|add) [the] [text|line] {text} (to|at the end of|to the end of) [the] [file] {file}",),
        ("{file}(の末尾|の最後|)に{text}を(追加して|追記して|足して|書き足して)",),
        Phrase("append “eggs” to notes.txt", "notes.txt に「卵」を追加して"),
        means.append,
        only_order=True,
        suggested=True,
    ),
    Intent(
        Phrase("replace a text in a file, everywhere in it", "ファイルの中の文字列をすべて置き換える"),
        ("replace {old} (with|by) {new} in [the] [file] {file}", "in [the] [file] {file}(,|) replace {old} (with|by) {new}", "change {old} to {new} in [the] [file] {file}"),
        ("{file}の{old_ja}を{new_ja}に(置き換えて|置換して|変更して|変えて)", "{file}で{old_ja}を{new_ja}に(置き換えて|置換して|変更して|変えて)"),
        Phrase("replace “milk” with “tea” in notes.txt", "notes.txt の「牛乳」を「お茶」に置き換えて"),
        means.replace,
        only_order=True,
        suggested=True,
    ),
    Intent(
        Phrase("delete files that are named", "名前を挙げたファイルを削除する"),
        ("(delete|remove) [the] [file|files] {files}",),
        ("{files}を(削除して|消して)",),
        Phrase("delete old.txt", "old.txt を削除して"),
        means.delete,
        only_order=True,
        suggested=True,
    ),
    Intent(
        Phrase("write a summary of files to a new file", "ファイルの要約を新しいファイルに書く"),
        ("(write|save) a summary of {files} (to|into|in) {target}", "(write|save) a summary (to|into|in) {target}"),
        ("{files}の要約を{target}に(書いて|保存して)", "要約を{target}に(書いて|保存して)"),
        Phrase("read A.md and B.md, then write a summary to C.md", "A.md と B.md を読んで、要約を C.md に書いて"),
        means.save,
        only_order=True,
    ),
    Intent(
        Phrase("run the tests of the project", "プロジェクトのテストを実行する"),
        ("run [all] [the] tests [in the background]", "do the tests pass"),
        ("テストを(実行して|走らせて)", "バックグラウンドでテストを実行して", "テストは通りますか"),
        Phrase("run the tests", "テストを実行して"),
        means.tests,
    ),
    Intent(
        Phrase("run a command; in quotes, whatever it is", "コマンドを実行する(引用符の中なら何でも)"),
        (
            "(run|execute|start) [the command] {command} [in the background]",
            "(run|execute) {file} [in the background]",
            "(git log|git branch|pwd)",
        ),
        ("{command}を(実行して|走らせて|動かして)", "バックグラウンドで{command}を実行して", "{command}をバックグラウンドで実行して", "{file}を(実行して|走らせて|動かして)"),
        Phrase("run `python3 --version`", "`python3 --version` を実行して"),
        means.run,
        only_order=True,
        suggested=True,
    ),
    Intent(Phrase("run a command line as it is", "コマンド行をそのまま実行する"), ("$ {line}", "! {line}"), (), Phrase("$ ls | wc -l", "$ ls | wc -l"), means.run, raw=True),
    Intent(Phrase("run what was named earlier in the same request", "同じ依頼の中で名前を挙げたものを実行する"), ("run it",), ("それを実行して",), Phrase("create hello.py that prints Hello World and run it", "hello.py を作って、Hello と表示するようにして、それを実行して"), means.run_it, only_order=True),
    Intent(
        Phrase("what runs in the background", "バックグラウンドで動いているもの"),
        ("(what|which commands) (runs|run|is running|are running) in the background", "is anything running in the background", "(list|show) [me] the background [commands|tasks|jobs]"),
        ("バックグラウンドで[は]何が動いていますか", "バックグラウンドの一覧を(見せて|教えて)"),
        Phrase("what runs in the background?", "バックグラウンドで何が動いていますか"),
        means.background_list,
    ),
    Intent(
        Phrase("what a background command wrote", "バックグラウンドのコマンドの出力"),
        ("(show|read) [me] [the output of] {id}", "what (does|did) {id} (say|write|print)"),
        ("{id}[の出力]を(見せて|読んで|教えて)", "{id}はどうなりましたか"),
        Phrase("show b1", "b1 を見せて"),
        means.background_show,
    ),
    Intent(
        Phrase("end a background command", "バックグラウンドのコマンドを止める"),
        ("(kill|stop|end) {id}",),
        ("{id}を(止めて|停止して|終了して)",),
        Phrase("kill b1", "b1 を止めて"),
        means.background_stop,
        only_order=True,
    ),
    Intent(
        Phrase("give work to agents", "エージェントに仕事を任せる"),
        (
            "(use|start|ask|have|get|let) {count} (agents|agent|subagents|subagent) [in the background|in parallel] to [each] {task}",
            "(use|start|ask|have|get|let) {count} background (agents|agent) to {task}",
            "(have|let) {count} (agents|agent|subagents|subagent) {task}",
            "(delegate|delegate to an agent|delegate this to an agent): {task}",
            "(use|start) an agent (for each|per) {kind} file [in {folder}] to {task}",
            "(use|start) an agent (for each|per) {glob} [file] [in {folder}] to {task}",
            "for each {kind} file [in {folder}] use an agent to {task}",
            "(ask|tell|have|let) {agent} [to] {task}",
        ),
        (
            "(サブ|)エージェント(に|を使って、|を使って|に任せて:)[次のことを]{task}",
            "{count}(つ|個|人)の(サブ|)エージェントに{task}",
            "(サブ|)エージェント{count}(つ|個|人)に{task}",
            "バックグラウンドで(サブ|)エージェントに{task}",
            "各{kind}[の]ファイルについて、(サブ|)エージェントに{task}",
            "{agent}に{task}",
        ),
        Phrase("use two agents to summarise A.md and B.md", "2つのエージェントに A.md と B.md を要約させて"),
        means.delegate,
    ),
    Intent(
        Phrase("remember a fact for later sessions", "今後のセッションのために覚える"),
        ("(remember|keep in mind|don't forget|do not forget) that {fact}", "(remember|keep in mind|remember this): {fact}"),
        ("{fact}(と|を)覚えておいて", "覚えておいて[ください]:{fact}"),
        Phrase("remember that I prefer tabs", "タブが好きだと覚えておいて"),
        means.remember,
        only_order=True,
    ),
    Intent(
        Phrase("be asked a question; behind a colon come two to four answers", "質問を受ける(答えを二つから四つ挙げられる)"),
        ("ask me [a question]: {question}", "ask me {question}"),
        ("{choices}の(どれ|どちら|どっち)(がいい|にする)か(聞いて|質問して)", "{question}(か|を)(聞いて|質問して)"),
        Phrase("ask me which colour to use: red, green or blue", "赤、青、緑のどれがいいか聞いて"),
        means.ask,
    ),
    Intent(
        Phrase("what is remembered", "覚えていること"),
        ("what do you remember [about {fact}]", "do you remember {fact}", "what did I tell you about {fact}"),
        ("{fact}について何を覚えていますか", "何を覚えていますか", "何を覚えている"),
        Phrase("what do you remember about tabs?", "タブについて何を覚えていますか"),
        means.recall,
    ),
    Intent(
        Phrase("forget what is remembered about something", "覚えたことを忘れる"),
        ("forget [what I said] about {fact}",),
        ("{fact}のことは忘れて",),
        Phrase("forget about tabs", "タブのことは忘れて"),
        means.forget,
        only_order=True,
    ),
    Intent(
        Phrase("which skills there are", "使えるスキル"),
        ("(what|which) skills (are there|do you have)", "list the skills"),
        ("どんなスキルがありますか", "スキルの一覧を(見せて|教えて)"),
        Phrase("which skills are there?", "どんなスキルがありますか"),
        means.skills,
    ),
    Intent(
        Phrase("read a skill", "スキルを読む"),
        ("(use|read|follow|load) the skill {skill}", "(use|read|follow|load) the {skill} skill"),
        ("スキル{skill}を(使って|読んで)", "{skill}というスキルを(使って|読んで)"),
        Phrase("use the skill review", "スキル review を使って"),
        means.skill,
    ),
    Intent(
        Phrase("which tools there are", "使えるツール"),
        ("(what|which) tools (do you have|are there|can you use)", "list the tools"),
        ("(使えるツール|ツールの一覧)を(教えて|見せて)", "どんなツールがありますか"),
        Phrase("which tools do you have?", "使えるツールを教えて"),
        means.talk(Topic.TOOLS),
    ),
    Intent(
        Phrase("call a tool of your own by its name", "自分で加えたツールを名前で呼ぶ"),
        ("(use|call) [the tool] {tool}", "(use|call) [the tool] {tool} with {arguments}", "what is the {tool} (in|of|for) {value}"),
        ("[ツール]{tool}を(使って|呼んで)", "{arguments}で[ツール]{tool}を(使って|呼んで)"),
        Phrase("use weather with city=Oslo", "city=Oslo で weather を使って"),
        means.own_tool,
    ),
    Intent(
        Phrase("a sum", "計算"),
        ("[what is|what's|calculate] {expression} [=]",),
        ("{expression}は[いくつですか|何ですか]", "{expression}を計算して"),
        Phrase("what is 17 * 4?", "17 * 4 は?"),
        means.calculate,
    ),
    Intent(
        Phrase("the same again, if it only looked", "もう一度(見るだけのとき)"),
        ("(again|once more)", "(do it|do that|try) again"),
        ("もう一度[お願い]", "もう一度やって"),
        Phrase("again", "もう一度"),
        means.again,
        alone=True,
    ),
    Intent(
        Phrase("what can be asked for", "できること"),
        ("help [me]", "what can (you|I) (do|ask)", "what can you do for me"),
        ("ヘルプ", "使い方を教えて", "(何|なに)ができますか", "できることを教えて"),
        Phrase("what can you do?", "何ができますか"),
        means.talk(Topic.HELP),
    ),
    Intent(
        Phrase("who answers", "答えているのは誰か"),
        ("(who|what) are you", "are you (an AI|a model|a real model|human|claude|a bot)", "(what|which) model are you"),
        ("あなたは(誰|何|AI)ですか", "どのモデルですか"),
        Phrase("who are you?", "あなたは誰ですか"),
        means.talk(Topic.IDENTITY),
    ),
    Intent(
        Phrase("hello", "挨拶"),
        ("(hello|hi|hey|good morning|good evening|good afternoon) [there]",),
        ("(こんにちは|こんばんは|おはよう|おはようございます|はじめまして)",),
        Phrase("hello", "こんにちは"),
        means.talk(Topic.GREETING),
    ),
    Intent(
        Phrase("thanks", "お礼"),
        ("(thanks|thank you|thank you very much|thx)", "(great|nice|perfect|ok|okay)"),
        ("ありがとう[ございます]", "了解[です]"),
        Phrase("thanks", "ありがとう"),
        means.talk(Topic.THANKS),
    ),
    Intent(
        Phrase("goodbye", "別れの挨拶"),
        ("(bye|goodbye|see you|good night)",),
        ("(さようなら|またね|おやすみなさい|おやすみ)",),
        Phrase("bye", "さようなら"),
        means.talk(Topic.GOODBYE),
    ),
)  # fmt: skip
"""The first form that fits decides."""
