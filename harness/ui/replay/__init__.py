"""Playing a recorded session back."""
