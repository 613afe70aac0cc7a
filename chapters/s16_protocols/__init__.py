"""Chapter s16: a request between agents has an id, a state and an end, and one table says what may follow from what."""
