"""Texts of the pages."""

from chapters.course import LocalizedText

COURSE = LocalizedText("The harness course", "harness コース")
ABOUT = LocalizedText(
    "Build a terminal agent chapter by chapter, and see what keeps its turn alive. Every page shows a run that was "
    "recorded while the page was written: the program, the wire and the panel, step by step.",
    "ターミナルエージェントを章ごとに組み立て、ターンを最後まで続けるしくみを見ていきます。どのページも、書き出すときに実際に"
    "記録した実行を載せています。プログラム、通信、パネルを一場面ずつ見られます。",
)
PRACTICE = LocalizedText(
    "The replies come from the practice model, a server on the same machine that plays a script. Requests, faults and "
    "tool calls are real.",
    "応答は練習用モデルのものです。同じマシンで動くサーバーが台本どおりに答えます。リクエスト、失敗、ツール呼び出しは本物です。",
)
CHAPTERS = LocalizedText("Chapters", "章の一覧")
CONTENTS = LocalizedText("Contents", "目次")
SKIP = LocalizedText("Skip to the content", "本文へ移動")
RUN = LocalizedText("The run, step by step", "実行を場面ごとに見る")
RUN_IN = LocalizedText("The run in {count} steps", "実行（全 {count} 場面）")
HOW = LocalizedText("← and → go to the previous and next step.", "← → キーで前後の場面に移ります。")
LIVE = LocalizedText("Step through it yourself, and break it:", "自分で進めて、壊してみるには:")
SLIDER = LocalizedText("Step of the run", "実行の場面")
PREVIOUS = LocalizedText("Previous step", "前の場面")
NEXT = LocalizedText("Next step", "次の場面")
ALL = LocalizedText("Show all steps", "すべての場面を表示")
SEQUENCE = LocalizedText(
    "Map of the run: who sent what to whom; a number leads to its step",
    "実行の見取り図: 誰が誰に何を送ったか。番号からその場面へ移れます",
)
CODE = LocalizedText("Code", "コード")
PANEL = LocalizedText("Panel at this moment", "この時点のパネル")
EVENTS = LocalizedText("What happened since the previous step", "前の場面からの出来事")
WIRE = LocalizedText("Wire", "通信")
NOTHING_SENT = LocalizedText("No request since the previous step.", "前の場面から新しいリクエストはありません。")
LAST = LocalizedText("The last one is request {number}.", "最後はリクエスト {number} です。")
FIRST = LocalizedText("The first request of a conversation.", "会話の最初のリクエストです。")
AS_IN = LocalizedText(
    "Differences from request {number} follow; unchanged: {same}.",
    "下はリクエスト {number} と比べて新しい部分です。変わらないもの: {same}。",
)
NOTHING = LocalizedText("nothing", "なし")
MESSAGES = LocalizedText("{count} messages", "メッセージ {count} 件")
GONE = LocalizedText("No longer sent: {count} messages.", "送られなくなったメッセージ: {count} 件。")
NEW = LocalizedText("New in the request", "リクエストで新しい部分")
NOTHING_NEW = LocalizedText(
    "Nothing is new: the same request again.", "新しい部分はありません。同じリクエストの再送です。"
)
TOOLS = LocalizedText("{count} tools: {names}", "ツール {count} 個: {names}")
MORE_CODE = LocalizedText("More code of this chapter", "この章のほかのコード")
DIFFERENCE = LocalizedText(
    "my_agent.py: the whole program; what is new since {id} is marked",
    "my_agent.py の全体。{id} から新しくなった行に印があります",
)
PICTURE = LocalizedText("The run of {id} as an animation", "{id} の実行のアニメーション")
LANGUAGE = LocalizedText("日本語", "English")
EARLIER = LocalizedText("Previous chapter", "前の章")
LATER = LocalizedText("Next chapter", "次の章")
