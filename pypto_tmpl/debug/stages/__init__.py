"""The stages of a pass dump: found, read, and made scripts of."""
