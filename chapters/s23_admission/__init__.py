"""Chapter s23: many agents at once, and admission control that lets few of them run at a time."""
