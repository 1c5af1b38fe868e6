"""``compiled_meta.json``: what callers of a build have to know of its entry, in PyPTO's form."""

from __future__ import annotations

import json

from pypto_tmpl.execution.entry import Parameter
from pypto_tmpl.ir.dtypes import DATA_TYPES
from pypto_tmpl.runtime.manifest import Manifest

NAME = "compiled_meta.json"
SCHEMA = 1
_DYNAMIC = -1


def meta_text(manifest: Manifest) -> str:
    """The text of the file."""
    data = {
        "schema": SCHEMA,
        "params": [_param(param) for param in manifest.entry.parameters],
        "num_return_types": manifest.results,
        "platform": manifest.platform,
        "backend_type": manifest.backend,
    }
    return json.dumps(data, indent=2)


def _param(param: Parameter) -> dict[str, object]:
    shape = None if param.is_scalar else [n if isinstance(n, int) else _DYNAMIC for n in param.shape or ()]
    dtype = DATA_TYPES[param.dtype].to_string()
    return {"name": param.name, "direction": param.direction, "shape": shape, "dtype": dtype}
