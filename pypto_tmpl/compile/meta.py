"""What callers of a build have to know of its entry, in PyPTO's form.

It is in ``compiled_meta.json``, and in ``distributed_meta.json`` where the host drives ranks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.execution.entry import Parameter, describe_entry
from pypto_tmpl.ir.dtypes import DATA_TYPES
from pypto_tmpl.runtime.distributed import DistributedConfig
from pypto_tmpl.runtime.manifest import Manifest

NAME = "compiled_meta.json"
DISTRIBUTED = "distributed_meta.json"
SCHEMA = 1
DISTRIBUTED_SCHEMA = 2
_DYNAMIC = -1


def meta_text(manifest: Manifest) -> str:
    """The text of ``compiled_meta.json``."""
    return json.dumps(_facts(SCHEMA, manifest.entry.parameters, manifest.results, manifest), indent=2)


def distributed_meta_text(manifest: Manifest, host: ir.Function, config: DistributedConfig | None) -> str:
    """The text of ``distributed_meta.json``, with the names that parameters have in the ``host``."""
    config = config or DistributedConfig()
    parameters = describe_entry(host, host.name).parameters
    data = _facts(DISTRIBUTED_SCHEMA, parameters, len(host.return_types), manifest, exact=True)
    data["distributed_config"] = {
        "device_ids": list(config.device_ids),
        "num_sub_workers": config.num_sub_workers,
        "runtime": config.runtime,
        "aicpu_thread_num": config.aicpu_thread_num,
    }
    return json.dumps(data, indent=2)


def _facts(
    schema: int, parameters: Iterable[Parameter], results: int, manifest: Manifest, *, exact: bool = False
) -> dict[str, object]:
    return {
        "schema": schema,
        "params": [_param(param, param.exact if exact else param.name) for param in parameters],
        "num_return_types": results,
        "platform": manifest.platform,
        "backend_type": manifest.backend,
    }


def _param(param: Parameter, name: str) -> dict[str, object]:
    shape = None if param.is_scalar else [n if isinstance(n, int) else _DYNAMIC for n in param.shape or ()]
    dtype = DATA_TYPES[param.dtype].to_string()
    return {"name": name, "direction": param.direction, "shape": shape, "dtype": dtype}
