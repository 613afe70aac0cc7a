"""s02: many tools behind the same loop, and every mistake of the model answered."""
