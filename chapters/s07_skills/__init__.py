"""Chapter s07: a line about each skill, and the whole of one when it is needed."""
