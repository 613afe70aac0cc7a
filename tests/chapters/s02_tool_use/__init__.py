"""Chapter s02."""
