# Every target prepares what it needs: `make demo` and `make test` work from a fresh clone.
# PYTHON is only used to create the virtual environment: `make test PYTHON=python3.12`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.setup-done
PYTHON312 ?= $(firstword $(wildcard $(HOME)/.pyenv/versions/3.12*/bin/python3.12) python3.12)
DOCS_STAMP := $(VENV)/.docs-done
JOBS ?= auto
# Sets of parameters that each test runs with; empty: all, and the slow tests too, as CI does.
SAMPLE ?= $(if $(CI),,24)
PYTEST_ARGS ?=
SECONDS ?= 60
SEED ?=
FUZZ_ARGS ?=

# The test workers are the parallelism; torch threads on top of them only compete for cores.
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help setup demo mlir test docs fuzz lint format typecheck wheel-test snapshots clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

setup: $(STAMP) ## create .venv and install the package, editable, with its tools

$(STAMP): pyproject.toml setup.py constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; v = sys.version.split()[0]; \
	sys.version_info >= (3, 11) or sys.exit(f"Python 3.11 or newer is needed, this is {v}: make PYTHON=python3.11 ...")'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	@touch $@

demo: setup ## generate a script, run it and compare it with its golden function
	$(BIN)/python examples/demo.py

test: setup ## run the tests (SAMPLE= runs all as CI does, JOBS=4 sets the workers, PYTEST_ARGS adds arguments)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup $(if $(SAMPLE),--sample $(SAMPLE)) $(PYTEST_ARGS)

mlir: .venv-mlir/.setup-done ## install MLIR, which checks .pto texts, where there is a Python 3.12 for it

.venv-mlir/.setup-done:
	$(PYTHON312) -m venv .venv-mlir
	.venv-mlir/bin/python -m pip install --quiet ptoas==0.1.1
	@touch $@

docs: $(DOCS_STAMP) ## build the documentation as a site, in build/site
	$(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees docs build/site
	@echo 'open build/site/index.html'

fuzz: setup ## look for inputs that crash or hang a reader (SECONDS=3600, SEED=1 and FUZZ_ARGS change the run)
	PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(FUZZ_ARGS)

lint: setup ## ruff
	$(BIN)/python -m ruff check .

format: setup ## sort imports and format the Python sources
	$(BIN)/python -m ruff check --select I --fix .
	$(BIN)/python -m ruff format .

typecheck: setup ## mypy, strict, on the package
	$(BIN)/python -m mypy

wheel-test: setup ## build the wheel, install it into a fresh environment, run it
	$(BIN)/python -m pytest tests/test_packaging.py $(PYTEST_ARGS)

snapshots: setup ## rewrite the committed golden scripts, those of examples/user_repo too
	$(BIN)/pypto-tmpl snapshot --update
	cd examples/user_repo && $(abspath $(BIN))/pypto-tmpl snapshot --update && $(abspath $(BIN))/python -m pytest -q --snapshot-update

clean: ## remove what the targets made, .venv included
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.* htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
