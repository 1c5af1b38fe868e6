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
	"source": str(_ROOT_DIR / "orchestration" / "main.cpp"),
	"function_name": "aicpu_orchestration_entry",
	"signature": [_D.IN, _D.IN, _D.IN, _D.OUT],
}

KERNELS = [
	{"func_id": 0, "name": "main_incore_0", "source": str(_ROOT_DIR / "kernels" / "aiv" / "main_incore_0.cpp"), "core_type": "aiv", "signature": [_D.IN, _D.IN, _D.IN, _D.OUT]},
]
