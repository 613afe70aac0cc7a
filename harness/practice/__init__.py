"""The model that needs no key: a loopback Messages API that improvises, plays scripts and injects faults.

Where to begin: `server.PracticeServer` is the API, `proxy.FaultProxy` puts faults before a real one, and
`script.Script` says what is played, in the form that SCRIPTS.md describes. A request goes this way:

    wire.Connection ─▶ checks.check ─▶ playback.Playback.next ─▶ answer.Answer ─▶ player.Player ─▶ wire.Connection
      bytes to a         would the       an entry of the           status, body     events and a
      request            API take it?    script, or the brain      or stream        fault to acts

What the model behind says is given the form that the request asks for (`reply_form`: forced tools, JSON, stop
sequences, thinking, the limit), and `prompt_cache` says which tokens of a prompt were read before.

`checks`, `playback`, `player`, `reply_form` and `sse` are pure; sockets are touched in `wire`, `performance` and
`listener` only.
"""
