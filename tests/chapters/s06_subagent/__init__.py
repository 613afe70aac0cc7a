"""Chapter s06."""
