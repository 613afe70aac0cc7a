"""The practice model that improvises: a closed list of sentences behind a real Messages API.

It follows documented sentences in English and Japanese to the letter, refuses the rest, and says so. What it reports is
real: it asks for the tools it is offered and reads their results. In the order of an answer:

1. `conversation` reads the request body: who asked what, which results are there, was an answer cut.
2. `intents` takes the last prompt apart and holds each step, as a whole, against the forms (`forms`) of the table
   (`table`); `meanings` makes goals (`goals`) of it, with `context` for "it". What is given away, to agents or to the
   background (`errands`), is not taken apart: an agent reads it like any prompt.
3. `plans` has a plan for each goal: a small program that asks for tool calls and ends with a report.
4. `planning` runs the plan on the results that are in the conversation already; what is missing is asked for.
5. `detours` stands around the plan: where a tool is not run, it takes the best way round that it is offered.
6. `cutting` keeps to the output limit, and finds the place where a cut answer goes on.

Nothing is remembered between two requests, as with every model behind this API.
"""

from harness.practice.improviser.improviser import Improviser

__all__ = ["Improviser"]
