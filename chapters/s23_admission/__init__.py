"""Chapter s23: many agents at once, and a gate that lets few of them work at a time."""
