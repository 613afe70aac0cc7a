"""Chapter s14: the clock starts work, and what becomes of a missed start is decided, not forgotten."""
