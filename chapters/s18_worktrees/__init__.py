"""Chapter s18: everyone has a desk of their own, and nothing unmerged is thrown away."""
