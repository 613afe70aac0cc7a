# ruff: noqa: E501 - a form reads best in one piece
"""Everything the rule-based model can be asked for: a closed list of sentences in two languages.

The list that "help" shows and docs/practice-model.md are made from this table. `patterns.py` explains the notation.
"""

from dataclasses import dataclass

from harness.practice.rule_model import plans
from harness.practice.rule_model.plans import MakePlan, about_files, said, shown
from harness.practice.rule_model.tools import Ability


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing that can be asked for."""

    name: tuple[str, str]
    """English and Japanese."""
    example: tuple[str, str]
    forms: tuple[str, ...]
    plan: MakePlan | None
    """None: the list of all examples."""
    changes: bool = False
    """It writes or runs something: a question is not an order."""


INTENTS: tuple[Intent, ...] = (
    Intent(
        ("List the files", "ファイルの一覧"), ("list the files", "ファイルの一覧を見せて"),
        ("(list|show) [me] [all] [the] files", "(list|show) [me] [all] [the] files (in|of) [the] [folder] {folder}", "(what is|what's|what files are) (here|in this folder)", "ls [{folder}]", "how many files are (there|here) [in {folder}]", "count [all] the files [in {folder}]",
         "[{folder}の]ファイル(の一覧|一覧|)を(見せて|教えて|一覧して)", "どんなファイルがありますか", "ファイルは(いくつ|何個)ありますか", "ファイルを数えて"),
        plans.find_files),
    Intent(
        ("Read files", "ファイルを読む"), ("read README.md", "README.md を読んで"),
        ("(read|show|open|cat) [me] [the] [file|files] {files}", "(what is|what's) in {file}", "{files}を(読んで|見せて|開いて)"),
        about_files(plans.content)),
    Intent(
        ("The headings of a file", "ファイルの見出し"), ("read README.md and tell me its headings", "README.md を読んで見出しを教えて"),
        ("read {file} and (tell me|show|list) its headings", "(show|list|tell me|what are) [me] the headings of {file}", "{file}を読んで[、]見出しを教えて", "{file}の見出しを(教えて|見せて)"),
        about_files(plans.headings)),
    Intent(
        ("Find text in files", "ファイルの中の文字列を探す"), ("find TODO", "TODO を探して"),
        ("(find|search for|grep|look for) {word} [in {folder}]", "(find|search for|grep|look for) {word} in [all] {glob} files", "{word}を(探して|検索して)", "{folder}で{word}を(探して|検索して)"),
        plans.search_text),
    Intent(
        ("Create a file", "ファイルを作る"), ("create hello.py that prints Hello World", "Hello と表示する hello.py を作って"),
        ("(create|make|write) [a|the|an empty] [new] [file|script|program] [called|named] {file}",
         "(create|make|write) [a|the] [new] [file] [called|named] {file} (with|containing) [the] [text|content] {text}",
         "(create|make|write) [a|the] [new] [file] [called|named] {file} (with|containing) {word}",
         "(create|make|write) [a|the] [new] [file|script|program] [called|named] {file} that (prints|says) {printed}",
         "(create|make|write) [a|the] [new] [file|script|program] [called|named] {file} that (prints|says) {printed} {run}",
         "(write|save) {text} to {file}", "[空の]{file}を(作って|作成して)", "{text}と書いた{file}を(作って|作成して)", "{file}に{text}と書いて", "{printed}と表示する{file}を(作って|作成して)"),
        plans.create_file, changes=True),
    Intent(
        ("Replace text in a file", "ファイルの中の文字列を置き換える"), ("replace “milk” with “tea” in notes.txt", "notes.txt の「牛乳」を「お茶」に置き換えて"),
        ("replace {old} (with|by) {new} in {file}", "in {file}[,] replace {old} (with|by) {new}", "change {old} to {new} in {file}", "{file}の{old}を{new}に(置き換えて|変更して|変えて)"),
        plans.replace_text, changes=True),
    Intent(
        ("Run a command; in quotes, any command", "コマンドを実行する(引用符の中なら何でも)"), ("run `python3 --version`", "`python3 --version` を実行して"),
        ("(run|execute) [the command] {command} [in the background]", "git (status|log|diff|branch)", "[バックグラウンドで]{command}を(実行して|走らせて)", "{command}をバックグラウンドで実行して"),
        plans.run_command, changes=True),
    Intent(
        ("Give a task to subagents", "エージェントに仕事を任せる"), ("use two agents to summarise A.md and B.md", "2つのエージェントに、A.md と B.md を要約して"),
        ("(use|start|ask|let) {count} (agents|agent|subagents|subagent) [in the background] to {task}", "(ask|tell) {agent} to {task}",
         "[バックグラウンドで]{count}(つ|個)のエージェントに[、]{task}", "[バックグラウンドで]エージェントに[、]{task}", "{agent}に[、]{task}"),
        plans.delegate, changes=True),
    Intent(
        ("Find files by name", "ファイルを名前で探す"), ("find *.md", "*.md を探して"),
        ("(find|list|count) [all] [the] {glob} [files] [in {folder}]", "{glob}を(探して|検索して|数えて)"),
        plans.find_files),
    Intent(
        ("Count the lines of files", "ファイルの行数"), ("count the lines of notes.md", "notes.md の行数を教えて"),
        ("count the lines (of|in) {files}", "how many lines does {file} have", "how many lines are in {file}", "{files}の行数を(教えて|数えて)", "{file}は何行ありますか"),
        about_files(plans.length)),
    Intent(
        ("Summarise files", "ファイルの要約"), ("summarise README.md", "README.md を要約して"),
        ("(summarise|summarize|describe|explain) {files}", "what is {file} about", "{files}を要約して", "{file}(の概要を教えて|について説明して)"),
        about_files(plans.summary)),
    Intent(
        ("What the project is", "プロジェクトの概要"), ("what does this project do?", "このプロジェクトは何ですか"),
        ("what does this (project|repository) do", "what is this (project|repository) [about]", "(summarise|summarize|describe|explain) this (project|repository)", "この(プロジェクト|リポジトリ)(は何ですか|の概要を教えて|について説明して)"),
        plans.about_project),
    Intent(
        ("List background commands", "バックグラウンドで動いているもの"), ("what runs in the background?", "バックグラウンドで何が動いていますか"),
        ("what (runs|is running) in the background", "list the background commands", "バックグラウンドで[は]何が動いていますか"),
        shown("will_list_jobs", "jobs", Ability.LIST_BACKGROUND)),
    Intent(
        ("Show the output of a background command", "バックグラウンドのコマンドの出力"), ("show b1", "b1 を見せて"),
        ("(show|read) [the output of] {job}", "{job}[の出力]を(見せて|読んで)"),
        shown("will_show_job", "job", Ability.SHOW_BACKGROUND, id="job")),
    Intent(
        ("Stop a background command", "バックグラウンドのコマンドを止める"), ("stop b1", "b1 を止めて"),
        ("(kill|stop) {job}", "{job}を(止めて|停止して|終了して)"),
        shown("will_stop_job", "stopped_job", Ability.STOP_BACKGROUND, id="job"), changes=True),
    Intent(
        ("Remember a fact", "事実を覚える"), ("remember that I prefer tabs", "タブが好きだと覚えておいて"),
        ("remember that {fact}", "remember: {fact}", "{fact}(と|を)覚えておいて"),
        plans.remember, changes=True),
    Intent(
        ("Show what is remembered", "覚えていること"), ("what do you remember about tabs?", "タブについて何を覚えていますか"),
        ("what do you remember [about {fact}]", "[{fact}について]何を覚えていますか"),
        shown("will_recall", "recalled", Ability.RECALL, query="fact")),
    Intent(
        ("Forget what is remembered", "覚えたことを忘れる"), ("forget about tabs", "タブのことは忘れて"),
        ("forget about {fact}", "{fact}のことは忘れて"),
        plans.forget, changes=True),
    Intent(
        ("List the skills", "使えるスキル"), ("which skills are there?", "どんなスキルがありますか"),
        ("(what|which) skills (are there|do you have)", "list the skills", "どんなスキルがありますか", "スキルの一覧を見せて"),
        shown("will_list_skills", "skills", Ability.SKILL)),
    Intent(
        ("Read a skill", "スキルを読む"), ("use the skill review", "スキル review を使って"),
        ("(use|read) the skill {skill}", "(use|read) the {skill} skill", "スキル{skill}を(使って|読んで)"),
        shown("will_read_skill", "skill", Ability.SKILL, skill="skill")),
    Intent(
        ("Be asked a question; after a colon, two to four answers", "質問を受ける(答えを二つから四つ挙げられる)"), ("ask me which colour to use: red, green or blue", "赤、青、緑のどれがいいか聞いて"),
        ("ask me {task}", "{choices}の(どれ|どちら)(がいい|にする)か(聞いて|質問して)", "{task}か(聞いて|質問して)"),
        plans.ask_user),
    Intent(
        ("Search the web", "ウェブを検索する"), ("search the web for harbour seals", "ウェブで harbour seals を検索して"),
        ("search the web for {fact}", "ウェブで{fact}を(検索して|調べて)"),
        plans.search_web),
    Intent(
        ("Read a web page", "ウェブページを読む"), ("read https://wiki.practice.example/rain", "https://wiki.practice.example/rain を読んで"),
        ("(read|fetch|open) {url}", "{url}を(読んで|開いて)"),
        shown("will_read", "page", Ability.FETCH_PAGE, url="url")),
    Intent(
        ("Call a tool of your own", "自分で加えたツールを呼ぶ"), ("use weather with Oslo", "Oslo で weather を使って"),
        ("(use|call) [the tool] {tool} [with {value}]", "what is the {tool} (in|of|for) {value}", "[{value}で]{tool}を(使って|呼んで)"),
        plans.use_tool),
    Intent(
        ("Show this list", "この一覧を見る"), ("help", "ヘルプ"),
        ("help", "what can (you|I) (do|ask)", "(who|what) are you", "ヘルプ", "(何|なに)ができますか", "使い方を教えて", "あなたは誰ですか"),
        None),
    Intent(
        ("Say hello, thanks or goodbye", "挨拶とお礼"), ("hello", "こんにちは"),
        ("(hello|hi|hey) [there]", "(thanks|thank you|bye|goodbye)", "(こんにちは|おはよう|こんばんは)", "(ありがとう|ありがとうございます|さようなら)"),
        said("hello")),
)  # fmt: skip
"""The first form that fits decides. The first eight are suggested when a prompt is refused."""
