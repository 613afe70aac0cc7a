"""Chapter s17: idle agents fetch work from a queue, and give it back when they die."""
