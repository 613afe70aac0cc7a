"""What the front ends of the course say themselves, in the languages that it is told in."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.lessons import Text

NEW = Text("new", "未読")
DONE = Text("done", "完了")
BEAT_OF = Text("beat {number} of {count}", "場面 {number}/{count}")
BEGINNING = Text("the beginning", "はじめ")
END = Text("the end", "おわり")
PASSED = Text("{passed} of {count} exercises passed", "演習 {count} 問中 {passed} 問合格")

GO_ON = Text("Go on with: harness learn {id}", "続き: harness learn {id}")
ALL_DONE = Text(
    "You have been through all chapters; `harness learn sNN` opens one again.",
    "すべての章を終えました。`harness learn sNN` でもう一度開けます。",
)
NO_CHAPTER = Text("There is no chapter.", "章がありません。")

GOING_ON = Text(
    "You were at beat {number}; going on from there. --restart begins at the beginning.",
    "前回は場面 {number} まででした。そこから続けます。--restart で最初からになります。",
)
RUNS = Text("the program of the chapter runs …", "章のプログラムが動いています …")
NOTHING_BEFORE = Text("This is the beginning.", "ここが最初です。")
NOTHING_AFTER = Text(
    "This is the end; type a prompt, /fault to break something, or q.",
    "ここが最後です。プロンプトを打つか、/fault で壊すか、q で終わります。",
)
LIVE = Text(
    "From here on the agent of the chapter is yours: what you type is a prompt.",
    "ここからは章のエージェントを自由に使えます。打ったものがそのままプロンプトになります。",
)
LIVE_ON_SCREEN = Text(
    "From here on the agent of the chapter is yours: p types a prompt, f breaks something.",
    "ここからは章のエージェントを自由に使えます (p: プロンプト、f: 壊す)。",
)
NOTHING_AFTER_ON_SCREEN = Text(
    "this is the end; p types a prompt, g opens another chapter",
    "ここが最後です。p でプロンプト、g でほかの章へ進みます",
)
CHOOSE = Text("Which chapter?", "どの章にしますか")
CONVERSATION = Text("conversation", "会話")
TEXT = Text("text", "本文")
WIRE = Text("wire", "通信")
WORKS = Text("works …", "動作中 …")
JUMPED = Text(
    "Going to the end of the chapter first; b goes back to the beats.",
    "先に章の最後へ進みます。b で戻れます。",
)
FRESH = Text("The chapter begins anew.", "章を最初からやり直します。")
NO_WIRE = Text("Nothing went over the wire up to here.", "ここまでは何も通信していません。")
NO_EXERCISE = Text("This chapter has no exercise.", "この章に演習はありません。")
COPIED = Text('exercise "{title}": {folder}', "演習「{title}」: {folder}")
TO_DO = Text(
    "read TASK.md there, edit {file}, then: harness check {folder}",
    "TASK.md を読み、{file} を編集して、次を実行: harness check {folder}",
)
LANGUAGE = Text("The course speaks English now.", "これからは日本語で表示します。")
NOT_UNDERSTOOD = Text(
    "{typed} is no command of a chapter, which has /fault and /toolfault; ? lists the keys.",
    "{typed} は章のコマンドではありません。使えるのは /fault と /toolfault です。? でキー一覧を表示します。",
)
PLAYED = Text("{count} beats, all of them happened.", "{count} の場面がすべて起こりました。")
SENT = Text("request {number}: sent", "リクエスト {number}: 送信")
CAME = Text("request {number}: came", "リクエスト {number}: 受信")
CODE_AT = Text("code: {place}, line {line}", "コード: {place} {line} 行目")

KEYS: Mapping[str, Text] = MappingProxyType(
    {
        "Enter": Text("next beat (also n)", "次の場面 (n も同じ)"),
        "b": Text("back; a replay, nothing runs again", "戻る。再生だけで、実行はしません"),
        "c": Text("the code of this beat; again: demo.py and more", "この場面のコード。もう一度で demo.py など"),
        "d": Text("what demo.py has that the chapter before has not", "前の章の demo.py との差分"),
        "w": Text("what went over the wire", "通信の中身"),
        "t": Text("the text of the chapter", "章の本文"),
        "e": Text("copy the exercise", "演習をコピー"),
        "l": Text("日本語", "English"),
        "r": Text("begin anew, with a fresh run", "新しく実行して最初から"),
        "/fault …": Text("break the model; /fault alone says how", "モデルを壊す。/fault だけで使い方を表示"),
        "/toolfault …": Text("break a tool", "ツールを壊す"),
        "…": Text("anything else is a prompt to the agent", "それ以外はエージェントへのプロンプト"),
        "q": Text("leave; you come back to this beat", "終わる。次はこの場面から"),
    }
)
"""Of the course in lines, in the order in which they are told."""
HINT = Text(
    "Enter next · b back · c code · w wire · t text · ? keys · q leave",
    "Enter 次へ · b 戻る · c コード · w 通信 · t 本文 · ? キー · q 終了",
)
