"""The recovery panel: a fold over events, and its drawing without a terminal."""
