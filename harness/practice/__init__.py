"""The model that needs no key: a loopback Messages API that improvises, plays scripts and injects faults."""
