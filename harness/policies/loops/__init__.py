"""Loops: whether the agent repeats itself, and the mildest intervention that could end it (docs/design/loops.md).

The end of what the agent does is compared in five projections. What repeats long enough is a loop, and a loop climbs a
ladder of interventions until it ends or the agent is stopped. Read `monitor` first.
"""
