"""Programs over several ranks: signals, communication domains, contexts, collectives of the host."""
