"""Chapter s05."""
