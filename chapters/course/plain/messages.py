"""Messages of the front ends of the course."""

from collections.abc import Mapping
from types import MappingProxyType

from chapters.course import LocalizedText

NEW = LocalizedText("new", "未読")
DONE = LocalizedText("done", "完了")
STEP_OF = LocalizedText("step {number} of {count}", "場面 {number}/{count}")
BEGINNING = LocalizedText("the beginning", "はじめ")
END = LocalizedText("the end", "おわり")
PASSED = LocalizedText("{passed} of {count} exercises passed", "演習 {count} 問中 {passed} 問合格")

GO_ON = LocalizedText("Continue: harness learn {id}", "続き: harness learn {id}")
ALL_DONE = LocalizedText(
    "You have completed all chapters; `harness learn sNN` opens one again.",
    "すべての章を終えました。`harness learn sNN` でもう一度開けます。",
)
NO_CHAPTER = LocalizedText("There are no chapters.", "章がありません。")

GOING_ON = LocalizedText(
    "Continuing at step {number}; --restart starts from the beginning.",
    "前回は場面 {number} まででした。そこから続けます。--restart で最初からになります。",
)
RUNS = LocalizedText("running the demo …", "章のプログラムが動いています …")
NOTHING_BEFORE = LocalizedText("This is the beginning.", "ここが最初です。")
NOTHING_AFTER = LocalizedText(
    "This is the end; type a prompt, /fault to break something, or q.",
    "ここが最後です。プロンプトを打つか、/fault で壊すか、q で終わります。",
)
LIVE = LocalizedText(
    "The agent of the chapter is yours now: type prompts.",
    "ここからは章のエージェントを自由に使えます。打ったものがそのままプロンプトになります。",
)
LIVE_ON_SCREEN = LocalizedText(
    "The agent of the chapter is yours now: p types a prompt, f breaks something, e copies the exercise, g continues.",
    "ここからは章のエージェントを自由に使えます (p: プロンプト、f: 壊す、e: 演習、g: 次の章へ)。",
)
NOTHING_AFTER_ON_SCREEN = LocalizedText(
    "this is the end; p types a prompt, g opens another chapter",
    "ここが最後です。p でプロンプト、g でほかの章へ進みます",
)
CHOOSE = LocalizedText("Choose a chapter", "どの章にしますか")
CONVERSATION = LocalizedText("conversation", "会話")
TEXT = LocalizedText("text", "本文")
WIRE = LocalizedText("wire", "通信")
WORKS = LocalizedText("running …", "動作中 …")
JUMPED = LocalizedText(
    "Going to the end of the chapter first; b goes back.",
    "先に章の最後へ進みます。b で戻れます。",
)
FRESH = LocalizedText("The chapter starts again.", "章を最初からやり直します。")
NO_WIRE = LocalizedText("No requests so far.", "ここまでは何も通信していません。")
NO_EXERCISE = LocalizedText("This chapter has no exercise.", "この章に演習はありません。")
COPIED = LocalizedText('exercise "{title}": {folder}', "演習「{title}」: {folder}")
TO_DO = LocalizedText(
    "read TASK.md there, edit {file}, then run: harness check {folder}",
    "TASK.md を読み、{file} を編集して、次を実行: harness check {folder}",
)
LANGUAGE = LocalizedText("The course is in English now.", "これからは日本語で表示します。")
NOT_UNDERSTOOD = LocalizedText(
    "Unknown command {typed}; a chapter has {commands}.",
    "{typed} は章のコマンドではありません。使えるのは {commands} です。",
)
NOT_SO = LocalizedText(
    "This does not hold in this run: {condition}.",
    "この実行では成り立っていません: {condition}。",
)
WITH = LocalizedText("with your {file}", "あなたの {file} で実行")
WATCH = LocalizedText("Watch it: {command}", "動かして見る: {command}")
REAL = LocalizedText(
    "A real model answers: nothing is asserted about its replies, and you answer its questions.",
    "本物のモデルが答えます。応答については何も確かめません。許可の質問にはあなたが答えてください。",
)
PLAYED = LocalizedText("All {count} steps happened.", "{count} の場面がすべて起こりました。")
SENT = LocalizedText("request {number}: sent", "リクエスト {number}: 送信")
RECEIVED = LocalizedText("request {number}: received", "リクエスト {number}: 受信")
NEW_SINCE = LocalizedText("+ marks what request {number} did not have", "+ はリクエスト {number} になかった部分")
CUT_HERE = LocalizedText("the stream ended here", "ここでストリームが切れました")
OMITTED = LocalizedText("… {count} more bytes", "… ほか {count} バイト")
SCRIPTED = LocalizedText("scripted reply {which}", "台本の応答 {which}")
CODE_AT = LocalizedText("code: {place}, line {line}", "コード: {place} {line} 行目")

KEYS: Mapping[str, LocalizedText] = MappingProxyType(
    {
        "Enter": LocalizedText("next step (also n)", "次の場面 (n も同じ)"),
        "1 … 5": LocalizedText("answer the question before a step", "場面の前の質問に答える"),
        "b": LocalizedText("previous step; nothing runs again", "戻る。再生だけで、実行はしません"),
        "c": LocalizedText(
            "the code of this step; again: demo.py and more", "この場面のコード。もう一度で demo.py など"
        ),
        "d": LocalizedText("diff of demo.py against the previous chapter", "前の章の demo.py との差分"),
        "w": LocalizedText("requests and replies", "通信の中身"),
        "t": LocalizedText("the text of the chapter", "章の本文"),
        "e": LocalizedText("copy the exercise", "演習をコピー"),
        "l": LocalizedText("日本語", "English"),
        "r": LocalizedText("restart with a new run", "新しく実行して最初から"),
        "/fault …": LocalizedText("break the model; /fault alone lists how", "モデルを壊す。/fault だけで使い方を表示"),
        "/toolfault …": LocalizedText("break a tool", "ツールを壊す"),
        "/retry /reset …": LocalizedText(
            "continue the turn; let a paused tool work", "ターンを続ける。止めたツールを戻す"
        ),
        "/checklist /agents /clear": LocalizedText(
            "checklist; subagents; forget the conversation", "チェックリスト。サブエージェント。会話を消す"
        ),
        "…": LocalizedText("anything else is a prompt", "それ以外はエージェントへのプロンプト"),
        "q": LocalizedText("quit; the next start continues here", "終わる。次はこの場面から"),
    }
)
"""Keys of the plain course."""
HINT = LocalizedText(
    "Enter next · b back · c code · w wire · t text · ? keys · q quit",
    "Enter 次へ · b 戻る · c コード · w 通信 · t 本文 · ? キー · q 終了",
)
