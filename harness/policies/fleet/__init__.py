"""Decisions about the tasks of a fleet: who may start one, record something of it and end it."""
