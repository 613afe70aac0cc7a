"""Chapter s04."""
