"""Where tiles lie in the memories of a core, as the types of a planned program say."""
