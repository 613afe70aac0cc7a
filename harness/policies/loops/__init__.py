"""Is the agent stuck, and what is the mildest thing that could free it (seed 001): pure policy, driven by observations.

The tail of what an agent does is looked at in five projections; what repeats long enough is a loop, and a loop climbs
a ladder of interventions until it is left or the agent is stopped.
"""
