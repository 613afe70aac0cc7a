"""s01: a model, one tool and a loop around them."""
