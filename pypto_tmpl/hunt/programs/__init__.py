"""Programs that are drawn: seeded, valid by construction, as text of the language."""
