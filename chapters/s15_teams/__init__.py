"""Chapter s15: agents write to each other; a message is never lost and never read twice."""
