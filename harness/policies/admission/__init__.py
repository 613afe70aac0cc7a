"""May this work start now, wait, or be replaced: pure policy, driven by what comes up and what ends.

Read `gate` for the whole. The other modules hold one idea each: `admission` the slots and the queue, `conversations`
their breakers, `watch_list` who is looked at, `limits` the numbers, `decisions` the answers.
"""
