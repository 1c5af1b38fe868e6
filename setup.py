"""Build hook: copies the top-level templates/ folder into the wheel, as pypto_tmpl/templates/."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithTemplates(build_py):
    """Adds the templates; an editable install reads them from the checkout and needs no copy."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, "pypto_tmpl", "templates")
        if target.exists():
            shutil.rmtree(target)  # a build folder may hold files of an earlier build
        shutil.copytree("templates", target, ignore=shutil.ignore_patterns("__pycache__", ".*"))


setup(cmdclass={"build_py": BuildWithTemplates})
