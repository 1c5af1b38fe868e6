"""``python -m pypto_tmpl`` is the ``pypto-tmpl`` command."""

from pypto_tmpl.cli import main

if __name__ == "__main__":
    main()
