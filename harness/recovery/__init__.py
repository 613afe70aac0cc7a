"""What to do when a model call does not come back whole. Pure: facts in, decisions out."""
