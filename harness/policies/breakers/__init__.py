"""May this tool be called now? CALL, SKIP, PROBE or PAUSE (seed 000): pure policy, driven by events.

Read `breaker` for one breaker, `board` for all of them together, `dispatcher` for how events drive it. The other
modules hold one idea each: `budget`, `cascade`, `capabilities` and `routing`, `scores`, `scope`, `freshness`,
`signature`, `report`.
"""
