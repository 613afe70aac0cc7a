"""Agents that walk over graphs while the escape mechanism watches them (seed 001, section 6).

`walking` is the loop that watches any agent which fits the protocols of `policies.loops.protocols`. `calling` is the
way to the tools that it hands to the agent, `tracks` what it remembers of the walk, `interventions` what each rung of
the ladder does, `failures` what an exception of a tool says.

The rest is the simulation behind `harness escape demo`: `worlds` with `unreliable` tools, the `naive` agent that walks
over them, a `virtual_clock` on which nobody waits, and `printed`, the walk as lines for a person.
"""
