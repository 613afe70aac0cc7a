"""The front ends of the course: `harness learn`."""
