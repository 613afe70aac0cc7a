"""The session in lines: the plain REPL, the headless run, and the line for each event."""
