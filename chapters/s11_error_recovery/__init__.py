"""Chapter s11: a turn never dies of something a program could have handled."""
