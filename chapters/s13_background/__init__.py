"""Chapter s13: start it, go on, and hear of the end exactly once."""
