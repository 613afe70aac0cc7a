"""Chapter s22: an agent that repeats itself is noticed, and freed by the mildest thing that may help."""
