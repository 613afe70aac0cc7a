"""Chapter s06: a part of the work is given to an agent with an empty history."""
