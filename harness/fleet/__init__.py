"""What machines share: one Postgres database (docs/fleet.md). Imported only where HARNESS_FLEET_URL is set."""
