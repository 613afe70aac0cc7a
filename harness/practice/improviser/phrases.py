# ruff: noqa: E501 - a phrase stands on one line in each language
"""Everything the practice model says, in both languages side by side."""

import re
from dataclasses import dataclass

from harness.practice.improviser.language import Language


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence in English and in Japanese, with places for values in braces."""

    english: str
    japanese: str

    def in_(self, language: Language, **values: object) -> str:
        """The sentence in a language, its places filled."""
        text = self.japanese if language is Language.JAPANESE else self.english
        for name, value in values.items():
            if value == 1 and language is Language.ENGLISH:
                text = re.sub(rf"(\{{{name}\}} (?:line|file|place|time))s\b", r"\1", text)
            text = text.replace(f"{{{name}}}", str(value))
        return text


# Who is speaking

INTRODUCTION = Phrase(
    "(I am the rule-based practice model: no AI, just patterns and your real tools.)",
    "(私はルールベースの練習用モデルです。AI ではなく、決まった規則と実際のツールで動いています。)",
)
IDENTITY = Phrase(
    "I am the practice model of this program: a small rule-based program, not an AI. I look for patterns in your sentences, ask for the right tools, and report what they really returned. I need no API key and send nothing to the internet.",
    "私はこのプログラムに付属する練習用モデルです。AI ではなく、小さなルールベースのプログラムです。文の中のパターンを探し、適切なツールを呼び出して、その実際の結果をお伝えします。API キーは不要で、インターネットには何も送りません。",
)
MEDIA = Phrase(
    "What came with it, measured and not looked at, because I am no AI:\n\n{list}",
    "一緒に届いたもの(私は AI ではないので、見るのではなく測りました):\n\n{list}",
)
NOT_UNDERSTOOD = Phrase(
    "I did not understand that as a whole, so I did nothing. I am a rule-based practice model, not an AI: I know a closed list of sentences and follow them to the letter; what else is said (“not”, “only if”, “the last line”) is beyond me. For example:",
    "全体としては理解できなかったため、何もしていません。私は AI ではなくルールベースの練習用モデルで、決まった文だけを文字どおりに実行します。それ以外の言葉(「〜しないで」「〜の場合だけ」「最後の行」など)には対応できません。例えば次のように話しかけてください。",
)
SAY_HELP = Phrase("Say “help” for the whole list.", "「ヘルプ」と入力すると、できることの一覧をお見せします。")
HELP = Phrase(
    "I am a rule-based practice model. I follow these sentences to the letter, and refuse what I do not know as a whole:",
    "私はルールベースの練習用モデルです。次の文を文字どおりに実行します。全体として分からない文は実行しません。",
)
HELP_JOINED = Phrase(
    "Several can be joined with “and”, “then” or new lines. What is changed, deleted or run has to be named; new text stands in quotes or in a code block.",
    "「〜して、〜して」や改行でいくつかをつなげられます。変更、削除、実行するものは名前で指定し、新しい文章は引用符かコードブロックに入れてください。",
)
GREETING = Phrase(
    "Hello! Ask me for something in this folder, for example “list the files”, or say “help”.",
    "こんにちは。このフォルダーのことを何でもお申し付けください。例えば「ファイルの一覧を見せて」。「ヘルプ」と入力すると使い方をご案内します。",
)
THANKS = Phrase("You are welcome. What next?", "どういたしまして。次は何をしましょうか。")
GOODBYE = Phrase("Goodbye!", "さようなら。またいつでもどうぞ。")
NO_REFERENT = Phrase(
    "Which file do you mean? Please name it, for example “read README.md”.",
    "どのファイルのことでしょうか。「README.md を読んで」のように名前を教えてください。",
)
UNCLEAR = Phrase("The part that I do not know: “{part}”.", "分からなかった部分:「{part}」")
TOOLS = Phrase("These are the tools I was given:\n\n{list}", "私が使えるツールは次のとおりです。\n\n{list}")
NO_TOOLS = Phrase(
    "I was given no tools in this conversation, so I can only talk.",
    "この会話ではツールが一つも渡されていないため、お話しすることしかできません。",
)
NO_TOOL = Phrase(
    "None of the tools I was given can {ability}.",
    "渡されたツールの中に、それができるものがありません(必要な機能: {ability})。",
)
NEEDS_ARGUMENTS = Phrase(
    "The tool {tool} also needs {names}: one value for each, of the right type. For example: use {tool} with {example}",
    "ツール {tool} には {names} も必要です(正しい型の値を一つずつ)。例: {example} で {tool} を使って",
)
NOTHING_LEFT = Phrase("That was all; nothing is left to do.", "以上です。残っている作業はありません。")
RESULT = Phrase("{expression} = {value}", "{expression} = {value} です。")
NO_VALUE = Phrase("I cannot work out {expression}.", "{expression} は計算できませんでした。")

UNREADABLE = Phrase(
    "I cannot read what came of {tool}, so I say nothing about it. This is what I got:",
    "{tool} の結果の形式が分からないため、何も判断していません。受け取ったものは次のとおりです。",
)

# Before a tool is asked for

WILL_LIST = Phrase("I will look at the files.", "ファイルを確認します。")
WILL_READ = Phrase("I will read {path}.", "{path} を読みます。")
WILL_LOOK_FOR = Phrase("I will look for {name} elsewhere.", "{name} を別の場所で探します。")
WILL_SEARCH = Phrase("I will search for “{text}”.", "「{text}」を検索します。")
WILL_FIND = Phrase("I will look for files that match {pattern}.", "{pattern} に一致するファイルを探します。")
WILL_CHECK = Phrase("First I check whether {path} exists.", "まず {path} があるかどうか確認します。")
WILL_WRITE = Phrase("Now I write {path}.", "{path} を書き込みます。")
WILL_EDIT = Phrase("Now I change {path}.", "{path} を変更します。")
WILL_RUN = Phrase("I will run `{command}`.", "`{command}` を実行します。")
WILL_FIND_TESTS = Phrase("I will see how this project runs its tests.", "このプロジェクトのテスト方法を確認します。")
WILL_USE = Phrase("I will use {tool}.", "{tool} を使います。")

WILL_DELEGATE = Phrase("I give this to an agent.", "エージェントに任せます。")
WILL_DELEGATE_ALL = Phrase("I give this to {count} agents.", "{count} 個のエージェントに任せます。")
WILL_START = Phrase("I will run `{command}` in the background.", "`{command}` をバックグラウンドで実行します。")
WILL_LOOK_AT_BACKGROUND = Phrase("I look at what is in the background.", "バックグラウンドの状態を確認します。")
WILL_READ_SKILL = Phrase("I read the skill {name}.", "スキル {name} を読みます。")
WILL_LIST_SKILLS = Phrase("I look which skills there are.", "どんなスキルがあるか確認します。")
WILL_REMEMBER = Phrase("I keep that for later sessions.", "今後のセッションのために覚えておきます。")
WILL_RECALL = Phrase("I look what is remembered.", "覚えていることを確認します。")
WILL_ASK = Phrase("I have a question.", "質問があります。")
WILL_FORGET = Phrase("I forget {name}.", "{name} を忘れます。")
WILL_STOP = Phrase("I will end {id}.", "{id} を終了します。")

# Reports

IN_FOLDER = Phrase("There are {count} files in {folder}:", "{folder}には {count} 個のファイルがあります。")
ONE_IN_FOLDER = Phrase("There is one file in {folder}:", "{folder}には 1 個のファイルがあります。")
THIS_FOLDER = Phrase("this folder", "このフォルダー")
EMPTY_FOLDER = Phrase("There are no files in {folder}.", "{folder}にはファイルがありません。")
MORE = Phrase("… and {count} more.", "… ほか {count} 件。")
FILES_BELOW = Phrase("{folder}/ ({count} files)", "{folder}/({count} 個のファイル)")
FOUND_FILES = Phrase("I found {count} files that match {pattern}:", "{pattern} に一致するファイルは {count} 個です。")
COUNTED_FILES = Phrase("I found {count} files that match {pattern}.", "{pattern} に一致するファイルは {count} 個です。")
COUNTED_ALL = Phrase("I count {count} files in {folder}.", "{folder}には {count} 個のファイルがあります。")
NO_FILES = Phrase("No file matches {pattern}.", "{pattern} に一致するファイルはありません。")
FOUND_HITS = Phrase(
    "“{text}” stands in {count} places, in {files} files:",
    "「{text}」は {files} 個のファイルの {count} か所にあります。",
)
ONE_HIT = Phrase("“{text}” stands in one place:", "「{text}」は 1 か所にあります。")
NO_HITS = Phrase("I did not find “{text}”.", "「{text}」は見つかりませんでした。")
CONTENT = Phrase("{path} has {count} lines:", "{path} は {count} 行あります。")
ONE_LINE = Phrase("{path} has one line:", "{path} は 1 行です。")
EMPTY_FILE = Phrase("{path} is empty.", "{path} は空のファイルです。")
LENGTH = Phrase("{path} has {count} lines.", "{path} は {count} 行です。")
AT_LEAST = Phrase(
    "{path} has more than {count} lines; the tool showed only that many.",
    "{path} は {count} 行を超えています(ツールが表示したのはそこまでです)。",
)
PART_SHOWN = Phrase("(The tool showed only a part of it.)", "(ツールが表示したのは一部だけです。)")
FIRST_LINES = Phrase("The first {count} lines of {path}:", "{path} の最初の {count} 行です。")
LAST_LINES = Phrase("The last {count} lines of {path}:", "{path} の最後の {count} 行です。")
HEADINGS = Phrase("The headings of {path}:", "{path} の見出しは次のとおりです。")
NO_HEADINGS = Phrase("{path} has no headings.", "{path} に見出しはありません。")
FUNCTIONS = Phrase("The functions in {path}:", "{path} の関数は次のとおりです。")
NO_FUNCTIONS = Phrase("I see no functions in {path}.", "{path} に関数は見当たりません。")
CLASSES = Phrase("The classes in {path}:", "{path} のクラスは次のとおりです。")
NO_CLASSES = Phrase("I see no classes in {path}.", "{path} にクラスは見当たりません。")
SUMMARY_OF = Phrase("{path}, {count} lines, in short:", "{path}({count} 行)の要約です。")
OPENING = Phrase("It begins: {text}", "冒頭: {text}")
SECTIONS = Phrase("Sections: {list}", "見出し: {list}")
DEFINES = Phrase("Defines: {list}", "定義: {list}")
WROTE = Phrase("{path} is written ({count} lines).", "{path} を作成しました({count} 行)。")
EXISTS = Phrase(
    "{path} exists already, so I left it as it is. Say “overwrite {path} with “…”” if it may be replaced, or “append “…” to {path}”.",
    "{path} は既にあるため、変更していません。上書きしてよければ「{path} を「…」で上書きして」、追記する場合は「{path} に「…」を追加して」と入力してください。",
)
APPENDED = Phrase("I added “{text}” at the end of {path}.", "{path} の末尾に「{text}」を追加しました。")
REPLACED = Phrase("In {path}, “{old}” is now “{new}”.", "{path} の「{old}」を「{new}」に置き換えました。")
NOT_IN_FILE = Phrase(
    "“{old}” does not occur in {path}, so I changed nothing.",
    "{path} に「{old}」は見つからなかったため、何も変更していません。",
)
SEVERAL_IN_FILE = Phrase(
    "“{old}” occurs {count} times in {path}. I replaced all of them.",
    "{path} には「{old}」が {count} か所あり、すべて置き換えました。",
)
PARTLY_SEEN = Phrase(
    "I could see only a part of {path}, so I did not dare to rewrite it.",
    "{path} は一部しか読めなかったため、書き換えは行いませんでした。",
)
SAME = Phrase("{first} and {second} are the same.", "{first} と {second} は同じ内容です。")
DIFFERENT = Phrase(
    "{first} and {second} differ: {added} lines only in the second, {removed} lines only in the first.",
    "{first} と {second} には違いがあります。{second} だけにある行は {added} 行、{first} だけにある行は {removed} 行です。",
)
RAN = Phrase("`{command}` succeeded:", "`{command}` は成功しました。")
RAN_SILENTLY = Phrase("`{command}` succeeded and printed nothing.", "`{command}` は成功し、出力はありませんでした。")
RAN_BADLY = Phrase("`{command}` failed{code}:", "`{command}` は失敗しました{code}。")
RAN_BADLY_SILENTLY = Phrase(
    "`{command}` failed{code} and printed nothing.", "`{command}` は失敗し{code}、出力はありませんでした。"
)
EXIT_CODE = Phrase(" (exit code {code})", "(終了コード {code})")
TESTS_PASSED = Phrase("The tests pass (`{command}`{tally}).", "テストは成功しました(`{command}`{tally})。")
TESTS_FAILED = Phrase("The tests fail (`{command}`{tally}):", "テストは失敗しました(`{command}`{tally})。")
NO_TESTS = Phrase(
    "I found no tests here: no pyproject.toml, package.json, Makefile or other file that says how to run them, and no test files.",
    "テストが見つかりませんでした。pyproject.toml、package.json、Makefile など実行方法が分かるファイルも、テストファイルもありません。",
)
TOOL_SAID = Phrase("{tool} answered:", "{tool} の結果です。")
SHORTENED = Phrase(
    "(The output was shortened. The tool's note: {note})", "(出力は省略されています。ツールの注記: {note})"
)

AGENT_ANSWERED = Phrase("The agent answered:", "エージェントの回答です。")
AGENTS_ANSWERED = Phrase(
    "{answered} of {count} agents answered.", "{count} 個のエージェントのうち {answered} 個が回答しました。"
)
THEIR_ANSWERS = Phrase("The answers:", "回答:")
AGENTS_FAILED = Phrase("Without an answer ({count}):", "回答のなかったもの({count} 件):")
AGENT_FAILED = Phrase(
    "No answer to “{task}”: the agent did not finish ({reason}).",
    "「{task}」への回答はありません。エージェントは完了しませんでした({reason})。",
)
AGENT_HAD_SAID = Phrase(
    "What it had said until then may be wrong:", "それまでの発言は次のとおりですが、正しいとは限りません。"
)
FILES_LEFT = Phrase(
    "{count} files more were not given to anybody: I ask for so many agents at once and no more.",
    "ほかの {count} 個のファイルは、一度に頼めるエージェントの数を超えるため、頼んでいません。",
)
DELEGATED_ASIDE = Phrase("Agents work on this in the background:", "エージェントがバックグラウンドで作業しています。")
STARTED = Phrase("`{command}` is in the background: {answer}", "`{command}` をバックグラウンドに送りました: {answer}")
IN_BACKGROUND = Phrase("In the background:", "バックグラウンドの状態です。")
SKILLS = Phrase("These skills there are:", "次のスキルがあります。")
SKILL_SAYS = Phrase("The skill {name} says:", "スキル {name} の内容です。")
REMEMBERED = Phrase("I will remember: {fact}", "覚えました: {fact}")
WILL_SEARCH_WEB = Phrase("I will search the web.", "ウェブを検索します。")
WILL_FETCH_PAGE = Phrase("I will read {url}.", "{url} を読みます。")
WEB_SAYS = Phrase("The web says this:", "ウェブによると次のとおりです。")
PAGE_SAYS = Phrase("{url} says this:", "{url} の内容は次のとおりです。")
NOTHING_ON_WEB = Phrase("The web has nothing about {query}.", "{query} についてはウェブに何もありません。")
ANSWERED = Phrase("Your answer: {answer}", "回答: {answer}")
NOT_ANSWERED = Phrase("There is no answer: {reason}", "回答がありません: {reason}")
RECALLED = Phrase("This is remembered:", "覚えていることは次のとおりです。")
NOT_REMEMBERED = Phrase("Nothing is remembered about {about}.", "{about} については何も覚えていません。")
FORGOTTEN = Phrase(
    "{name} is forgotten. /memory undo {name} brings it back.", "{name} を忘れました。/memory undo {name} で戻せます。"
)
OUTPUT_OF = Phrase("{id} wrote:", "{id} の出力です。")
COMMAND_ENDED = Phrase("News from {id} in the background: {how}", "バックグラウンドの {id} から知らせがあります: {how}")
COMMAND_WAITS = Phrase(
    "{id} in the background is quiet and seems to wait for input:",
    "バックグラウンドの {id} は出力が止まり、入力を待っているようです。",
)
AGENT_DONE = Phrase(
    "Agent {agent} has answered from the background:", "バックグラウンドのエージェント {agent} の回答です。"
)
SOMETHING_ARRIVED = Phrase("Something arrived from {source}:", "{source} から知らせがあります。")

# When it did not work

FAILED = Phrase("That did not work: {reason}", "うまくいきませんでした: {reason}")
NOT_FOUND = Phrase(
    "{path} does not exist, and I found no other file of that name.",
    "{path} は存在せず、同じ名前のファイルも見つかりませんでした。",
)
FOUND_INSTEAD = Phrase("{path} does not exist, but {found} does.", "{path} はありませんが、{found} がありました。")
SEVERAL_FOUND = Phrase(
    "{path} does not exist. Did you mean one of these?", "{path} は存在しません。次のいずれかでしょうか。"
)
DENIED = Phrase(
    "I was not allowed to do that ({what}), so I stopped.", "許可されなかったため、実行していません({what})。"
)
CANCELLED = Phrase(
    "That was interrupted ({what}), so I do not know what came of it.",
    "途中で中断されたため、結果は分かりません({what})。",
)

# When a tool is not run, because it does not work now

WILL_DETOUR = Phrase(
    "{tool} cannot be used now, so I take {other} instead.", "{tool} が今は使えないため、代わりに {other} を使います。"
)
LOST = Phrase(
    "Done without {tool}, with {other} instead. Lost by that: {degradation}.",
    "{tool} を使わず、代わりに {other} で行いました。そのため失われるもの: {degradation}。",
)
DETOUR_DENIED = Phrase(
    "I was not allowed to take the way round ({what}), so I stopped.",
    "代わりの方法({what})は許可されなかったため、実行していません。",
)
NOT_RUN = Phrase(
    "{tool} was not run ({why}), and no other way is left that I can take.",
    "{tool} は実行されませんでした({why})。ほかに取れる方法も残っていません。",
)
BY_HAND = Phrase("By hand: {method}.", "手作業での方法: {method}。")
PLEASE_RUN = Phrase(
    "Please run this yourself and tell me what it prints:", "次のコマンドをご自身で実行し、出力を教えてください。"
)
PLEASE_PASTE = Phrase("Please paste the text of {path} here.", "{path} の内容をここに貼り付けてください。")
PLEASE_SAVE = Phrase("Please save this as {path}:", "次の内容を {path} として保存してください。")
PLEASE_CHANGE = Phrase("Please change this in {path}:", "{path} を次のように変更してください。")
PLEASE_SEARCH = Phrase(
    "Please tell me which files are worth looking at for “{pattern}”.",
    "「{pattern}」がありそうなファイルを教えてください。",
)
PLEASE_LIST = Phrase("Please tell me which files match {pattern}.", "{pattern} に一致するファイルを教えてください。")
NOT_CHECKED = Phrase(
    "I could not check whether {path} exists, so I did not write it.",
    "{path} が既にあるか確認できなかったため、書き込んでいません。",
)
PAUSED = Phrase(
    "The turn pauses here; done: {done}; not done: {left}. Say “go on”, and I try again.",
    "ここで一時停止しました。完了: {done}。未完了: {left}。「続けて」と入力すると、もう一度試します。",
)
RESUMED = Phrase(
    "The turn was paused; done before that: {done}. I try the rest again.",
    "一時停止していました。それまでに完了: {done}。残りをもう一度試します。",
)
NOTHING = Phrase("nothing", "なし")
TOO_LONG_CALL = Phrase("The call does not fit into the output limit.", "呼び出しが出力の上限に収まりません。")
