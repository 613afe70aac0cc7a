"""Chapter s03."""
