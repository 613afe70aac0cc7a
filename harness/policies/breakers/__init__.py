"""Circuit breakers for tools: decides CALL, SKIP, PROBE or PAUSE for each call (docs/design/breakers.md).

Read `breaker` for one breaker, `registry` for all of them together and `dispatcher` for how events drive the registry.
"""
