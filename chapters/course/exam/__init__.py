"""The final exam of the course: any program that speaks the Messages API against the fault table.

`rows` is the table and `mechanisms` names what a program may lack; `judgement` and `result` decide, without any I/O.
`program` is the program under examination, `scratch` one run of it, `playback` fits the scripts to any client, and
`player` plays the parts.
"""
