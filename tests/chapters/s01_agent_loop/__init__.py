"""Chapter s01."""
