"""Everything that can be made to go wrong on purpose, with the model and with tools."""
