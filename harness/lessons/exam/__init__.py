"""The final exam of the course: a program of the learner against the fault table.

`rows` is the table, `judgement` decides what a run shows (pure), `playback` fits the scripts to any client, `player`
runs the program.
"""
