"""One call to a model: the only room that knows the SDK and the shape of its requests."""
