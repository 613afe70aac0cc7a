"""One model call: request, streamed reply, budgets and endpoints."""
