"""Chapter s13: start it, continue, and report its end exactly once."""
