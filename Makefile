# `make demo` and `make test` need Python >= 3.11 (PYTHON=... names another one), git
# and make; everything else goes into the virtual environment that they create.

PYTHON ?= python3
VENV ?= .venv
DIST ?= dist
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test quick matrix sweep fuzz gate lint docs bench wheel clean

help:  ## list what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 8

demo: $(VENV)/.ready  ## generate, solve, verify and draw model-checking games
	PATH="$(abspath $(BIN)):$$PATH" sh examples/demo.sh demo

test: $(VENV)/.group-test  ## run the tests, the doctests and the documentation's examples
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

quick: $(VENV)/.group-test  ## run one case of each quick test
	$(BIN)/python -m pytest -n auto --dist worksteal --quick $(ARGS)

matrix:  ## run these with each Python from 3.11 on, the lowest and the newest JAX
	.ci/matrix

sweep: $(VENV)/.group-test  ## run the long random sweeps, and the fuzzer for long
	$(BIN)/python -m pytest -m sweep -o faulthandler_timeout=3600 $(ARGS)
	XLA_FLAGS="" $(MAKE) fuzz SECONDS=600

fuzz: SECONDS ?= 60
fuzz: export JAX_COMPILATION_CACHE_DIR ?= $(CURDIR)/.cache/jax
fuzz: $(VENV)/.group-test  ## compare all solvers and references on random small cases
	$(BIN)/python -m jaxgames.testing --seconds $(SECONDS) --jobs 0 $(ARGS)

gate: $(VENV)/.group-test  ## plant bugs, and see that tests or fuzzer kill each
	$(BIN)/python -m tests.planted_bugs $(ARGS)

lint: $(VENV)/.group-lint $(VENV)/.group-test  ## check format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(VENV)/.group-docs docs/performance.md  ## build the documentation in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.group-bench  ## measure on this machine, then write docs/performance.md
	$(BIN)/python -m benchmarks.run $(ARGS)
	$(BIN)/python -m benchmarks.report

wheel: $(VENV)/.ready  ## build the wheel in dist/
	$(PIP) wheel --no-deps --wheel-dir $(DIST) .

clean:  ## remove everything that was made
	rm -rf $(VENV) .cache build dist site demo .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

docs/performance.md: | $(VENV)/.ready
	$(BIN)/python -m benchmarks.report

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "jaxgames needs Python 3.11 or later: make $(MAKECMDGOALS) PYTHON=..."; exit 1; }
	@echo "Installing into $(VENV), which takes half a minute or so ..."
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --no-compile --editable ".[host]"  # Python compiles what it imports
	@touch $@

$(VENV)/.group-%: $(VENV)/.ready
	$(PIP) install "pip>=25.1"  # the first that knows dependency groups
	$(PIP) install --no-compile --group $*
	@touch $@
