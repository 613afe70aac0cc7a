"""Agents that walk over graphs under loop detection: `harness loops demo`, and an example of the loop policy as a
library.

`walking` observes any agent that fits `protocols`. `calling` gives the agent its tools, `tracks` records the walk,
`interventions` carries out the rungs, `failures` reads exceptions of tools. The rest is the simulation: `worlds` with
`unreliable` tools, the `naive` agent, a `virtual_clock`, and `printed`, the walk as lines.
"""
