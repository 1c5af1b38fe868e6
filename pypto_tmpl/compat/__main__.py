"""``python -m pypto_tmpl.compat SCRIPT [ARGS]``."""

import sys

from pypto_tmpl.compat import run_script

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m pypto_tmpl.compat SCRIPT [ARGS]")
    sys.exit(run_script(sys.argv[1], sys.argv[2:]))
