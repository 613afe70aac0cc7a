"""Chapter s22: an agent that goes in circles is noticed, and freed by the mildest thing that may help."""
