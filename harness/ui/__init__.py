"""The front ends: folds over events."""
