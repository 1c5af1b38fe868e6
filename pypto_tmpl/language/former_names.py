"""Names of `pl` that other versions of the language have, and what is written in their place."""

REPLACEMENTS = {
    "In": "a parameter is an input unless it is pl.Out[...] or pl.InOut[...]",
    "incore": "write `with pl.at(level=pl.Level.CORE_GROUP):`",
    "auto_incore": "write `with pl.at(level=pl.Level.CORE_GROUP):`",
    "auto_chunk": "leave it out: loops are not cut into chunks",
    "auto_scope": "write @pl.function(auto_scope=True), which is the default",
}
