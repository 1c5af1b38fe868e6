"""Timelines of the statements of a build's kernels: ``pypto-tmpl export-kernel-insight`` under another name.

python tools/export_all_kernel_insight.py --build-dir build_output/<Program>_<time>
"""

from pypto_tmpl.cli.export_insight import export_kernel_insight

if __name__ == "__main__":
    export_kernel_insight()
