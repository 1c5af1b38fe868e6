"""Running scripts: the entry and its arguments, the script under a readable name, threads and cores."""
