"""Tests of the pages of the course."""
