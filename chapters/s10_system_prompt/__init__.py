"""Chapter s10: what stands before the conversation in every request, part by part."""
