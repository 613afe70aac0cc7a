"""A loopback Messages API that needs no key: rule-based answers, scripts, faults and strict request checks.

Start with `server.PracticeServer` (the API), `proxy.FaultProxy` (faults in front of a real API) and `script.Script`
(what is played; SCRIPTS.md describes the TOML form). A request passes through:

    wire.ClientConnection   bytes to a request, the response to bytes
    request_checks.check    would the API accept it?
    playback.Playback       the entry of the script, or the model behind (`rule_model`)
    reply_form              forced tools, JSON, stop sequences, thinking, the output limit
    answer.ResponseWriter   status and body, or events
    fault_player            events and a fault, as bytes and actions on the connection

Only `wire`, `listener` and `answer` touch sockets.
"""
