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
	"source": str(_ROOT_DIR / "orchestration" / "attention.cpp"),
	"function_name": "aicpu_orchestration_entry",
	"signature": [_D.IN, _D.IN, _D.IN, _D.OUT],
}

KERNELS = [
	{"func_id": 0, "name": "init", "source": str(_ROOT_DIR / "kernels" / "aiv" / "init.cpp"), "core_type": "aiv", "signature": [_D.OUT, _D.OUT, _D.OUT]},
	{"func_id": 1, "name": "scores", "source": str(_ROOT_DIR / "kernels" / "aic" / "scores.cpp"), "core_type": "aic", "signature": [_D.IN, _D.IN, _D.INOUT]},
	{"func_id": 2, "name": "online", "source": str(_ROOT_DIR / "kernels" / "aiv" / "online.cpp"), "core_type": "aiv", "signature": [_D.IN, _D.INOUT, _D.INOUT, _D.INOUT, _D.INOUT]},
	{"func_id": 3, "name": "accumulate_aic", "source": str(_ROOT_DIR / "kernels" / "aic" / "accumulate_aic.cpp"), "core_type": "aic", "signature": [_D.IN, _D.IN, _D.IN, _D.INOUT, _D.INOUT]},
	{"func_id": 4, "name": "accumulate_aiv", "source": str(_ROOT_DIR / "kernels" / "aiv" / "accumulate_aiv.cpp"), "core_type": "aiv", "signature": [_D.IN, _D.IN, _D.IN, _D.INOUT, _D.INOUT]},
	{"func_id": 5, "name": "finish", "source": str(_ROOT_DIR / "kernels" / "aiv" / "finish.cpp"), "core_type": "aiv", "signature": [_D.IN, _D.IN, _D.OUT]},
]
