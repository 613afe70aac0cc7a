"""s05: a plan that the model writes, the program checks, and everybody can see."""
