"""What a person sees: folds over events, and nothing that decides."""
