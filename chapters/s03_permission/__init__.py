"""s03: every call passes a gate before it runs: allow, ask or deny, with a reason."""
