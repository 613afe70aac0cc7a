"""A loopback Messages API that needs no key: rule-based answers, scripts, faults and strict request checks.

Start with `server.PracticeServer` (the API), `proxy.FaultProxy` (faults in front of a real API) and `script.Script`
(the answers; script/SCRIPTS.md describes the TOML form). A request passes through:

    wire.connection          bytes to a request, the response to bytes
    checks.request           would the API accept it?
    script.playback          the entry of the script, or the model behind (`rule_model`)
    rule_model.reply_form    forced tools, JSON, stop sequences, thinking, the output limit
    prompt_cache             tokens read from the cache and written to it
    wire.response            status and body, or events
    faults.player            events and a fault, as bytes and actions on the connection

Only `wire` touches sockets.
"""
