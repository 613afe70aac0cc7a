"""One limit for everything a person runs on this machine: all sessions take their slots from one store.

Read `store` for what a store promises and `shared` for what the executor uses. The other modules hold one idea each:
`owners` who holds a slot and whether it still lives, `memory` a store within one process, `sqlite` one file for all
processes of a person, `desk` the one thread that touches that file.
"""
