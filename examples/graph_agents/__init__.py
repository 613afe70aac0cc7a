"""An agent that walks over a graph with tools that fail at random, watched by the loop detection of harness.

`python -m examples.graph_agents` shows one walk. `worlds` are the graphs, `agent` is an agent that knows nothing of
harness and loses its nerve at the first failure, and `walk` is the loop around it, with `harness.Watch`.
"""
