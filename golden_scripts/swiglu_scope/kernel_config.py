"""Emitted by pypto_tmpl: change the IR or a template, not this text."""

# kernel_config.py
# The kernels of this build and the function that launches them.
# Made by pypto_tmpl.

from pathlib import Path

from simpler.task_interface import ArgDirection as _D

_ROOT_DIR = Path(__file__).parent

# A thread count of 0 leaves the choice to the run time.
RUNTIME_CONFIG = {
	"runtime": "tensormap_and_ringbuffer",
	"aicpu_thread_num": 0,
}

ORCHESTRATION = {
	"source": str(_ROOT_DIR / "orchestration" / "scope.cpp"),
	"function_name": "aicpu_orchestration_entry",
	"signature": [_D.IN, _D.IN, _D.IN, _D.IN, _D.IN, _D.IN, _D.IN, _D.OUT],
}

KERNELS = [
	{"func_id": 0, "name": "scope_incore_0_aic", "source": str(_ROOT_DIR / "kernels" / "aic" / "scope_incore_0_aic.cpp"), "core_type": "aic", "signature": [_D.IN, _D.IN, _D.IN, _D.INOUT, _D.INOUT]},
	{"func_id": 1, "name": "scope_incore_0_aiv", "source": str(_ROOT_DIR / "kernels" / "aiv" / "scope_incore_0_aiv.cpp"), "core_type": "aiv", "signature": [_D.IN, _D.IN, _D.IN, _D.INOUT, _D.INOUT]},
	{"func_id": 2, "name": "scope_incore_1", "source": str(_ROOT_DIR / "kernels" / "aiv" / "scope_incore_1.cpp"), "core_type": "aiv", "signature": [_D.IN, _D.IN, _D.OUT]},
	{"func_id": 3, "name": "scope_incore_2_aic", "source": str(_ROOT_DIR / "kernels" / "aic" / "scope_incore_2_aic.cpp"), "core_type": "aic", "signature": [_D.IN, _D.IN, _D.IN, _D.INOUT, _D.INOUT]},
	{"func_id": 4, "name": "scope_incore_2_aiv", "source": str(_ROOT_DIR / "kernels" / "aiv" / "scope_incore_2_aiv.cpp"), "core_type": "aiv", "signature": [_D.IN, _D.IN, _D.IN, _D.INOUT, _D.INOUT]},
	{"func_id": 5, "name": "scope_incore_3_aic", "source": str(_ROOT_DIR / "kernels" / "aic" / "scope_incore_3_aic.cpp"), "core_type": "aic", "signature": [_D.IN, _D.IN, _D.IN, _D.INOUT, _D.INOUT]},
	{"func_id": 6, "name": "scope_incore_3_aiv", "source": str(_ROOT_DIR / "kernels" / "aiv" / "scope_incore_3_aiv.cpp"), "core_type": "aiv", "signature": [_D.IN, _D.IN, _D.IN, _D.INOUT, _D.INOUT]},
]
