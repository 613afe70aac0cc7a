"""Commands that outlive the call that started them."""
