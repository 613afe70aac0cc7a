"""Chapter s21: a tool that fails is not called again and again."""
