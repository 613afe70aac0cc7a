"""The recovery panel: a fold over events, and how it is drawn. Nothing here knows a terminal."""
