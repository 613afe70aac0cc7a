"""The exercises of the course: data, working copies, and checks in a separate process."""
