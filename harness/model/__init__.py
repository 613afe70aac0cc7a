"""One model call: the only package that knows the SDK and the shape of requests (docs/design/model-calls.md)."""
