"""The wheel, built from a copy of the checkout and installed into a fresh environment."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import pypto_tmpl
from pypto_tmpl.resources import template_root

CHECKOUT = Path(__file__).resolve().parent.parent
BUILD_INPUTS = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "pypto_tmpl", "templates")

# One group: under xdist the tests share one build.
pytestmark = [pytest.mark.packaging, pytest.mark.timeout(1800), pytest.mark.xdist_group("packaging")]


def run(*command: str | Path, cwd: Path) -> str:
    """Return what the command prints; nothing of this environment but torch and the like is visible to it."""
    hidden = ("PYTHON", "PYTEST", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in BUILD_INPUTS:
        if (CHECKOUT / name).is_dir():
            shutil.copytree(CHECKOUT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (CHECKOUT / name).exists():
            shutil.copy(CHECKOUT / name, source / name)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", source, cwd=folder)
    (built,) = (folder / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the scripts folder of a fresh environment that has the wheel and borrows its dependencies."""
    root = tmp_path_factory.mktemp("environment")
    venv.create(root, with_pip=False, symlinks=os.name != "nt")
    scripts = root / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index"]
    run(*install, wheel, cwd=root)
    # Only now: pip must not see the editable install of this checkout beside the borrowed packages.
    # A folder named by a .pth file has its own .pth files ignored, so the checkout stays out of sight.
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site_packages = run(python, "-c", code, cwd=root).strip()
    borrowed = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    Path(site_packages, "borrowed.pth").write_text("\n".join(borrowed) + "\n")
    return scripts


def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    top_level = {name.split("/")[0] for name in names}
    assert top_level == {"pypto_tmpl", f"pypto_tmpl-{pypto_tmpl.__version__}.dist-info"}
    assert "pypto_tmpl/py.typed" in names
    modules = {p.relative_to(CHECKOUT).as_posix() for p in (CHECKOUT / "pypto_tmpl").rglob("*.py")}
    assert {name for name in names if name.endswith(".py") and "/templates/" not in name} == modules
    stubs = {p.relative_to(CHECKOUT).as_posix() for p in (CHECKOUT / "pypto_tmpl").rglob("*.pyi")}
    assert {name for name in names if name.endswith(".pyi")} == stubs


def test_templates_of_the_wheel_are_those_of_the_checkout(environment: Path) -> None:
    code = "import pypto_tmpl.resources as r; print(r.__file__); print(r.template_root())"
    module, root = run(environment / "python", "-c", code, cwd=environment).splitlines()
    assert Path(root) == Path(module).parent / "templates"
    assert Path(root).is_relative_to(environment.parent) and "site-packages" in root
    assert file_contents(Path(root)) == file_contents(template_root())
    assert template_root() == CHECKOUT / "templates"


def file_contents(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("command", [["pypto-tmpl"], ["python", "-m", "pypto_tmpl"]], ids=" ".join)
def test_command_runs(environment: Path, command: list[str]) -> None:
    program, *arguments = command
    help_text = run(environment / program, *arguments, "--help", cwd=environment)
    assert help_text.startswith("Usage: ")
    version_text = run(environment / program, *arguments, "--version", cwd=environment)
    assert pypto_tmpl.__version__ in version_text


def test_the_wheel_asks_for_what_the_package_imports(wheel: Path) -> None:
    """numpy among it: without it torch prints a warning on every run."""
    archive = zipfile.ZipFile(wheel)
    metadata = archive.read(next(name for name in archive.namelist() if name.endswith("METADATA"))).decode()
    needed = [line for line in metadata.splitlines() if "extra ==" not in line]
    assert any(line.startswith("Requires-Dist: numpy") for line in needed)


def test_an_installed_package_is_known_as_such(environment: Path) -> None:
    code = "import pypto_tmpl.resources as r; print(r.is_installed())"
    assert run(environment / "python", "-c", code, cwd=environment).strip() == "True"
