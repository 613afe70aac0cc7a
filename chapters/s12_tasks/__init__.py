"""Chapter s12: a goal is a graph on disk, and a step may begin when what it needs is done."""
