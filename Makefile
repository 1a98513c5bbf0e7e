# Everything needs only Python 3.11+ and make. The virtual environment is made on first use, with uv if it is there.
VENV := .venv
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev
COMPILED := .venv-compiled

.PHONY: serve test compiled test-compiled test-ways check fast format docs bench bench-full fuzz soak clean help

help:           ## show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

serve: $(READY) ## set up and run the server (arguments: make serve ARGS="--port 9000")
	@$(VENV)/bin/hashrange serve $(ARGS)

test: $(READY_DEV) ## set up and run every test
	$(PYTHON) -m pytest -n 2 --dist worksteal

compiled: $(COMPILED)/.ready ## the same server with its hot modules compiled by mypyc, in .venv-compiled (needs a C compiler)

test-compiled: $(COMPILED)/.ready ## run every test against the compiled build
	$(COMPILED)/bin/python -m pytest -n 2 --dist worksteal

test-ways: $(READY_DEV) ## run what speaks to a server again on two workers, and on a store in memory
	HASHRANGE_TEST_SERVE="--workers 2" $(PYTHON) -m pytest -n 2 --dist worksteal tests/conformance
	HASHRANGE_TEST_SERVE="--memory" $(PYTHON) -m pytest -n 2 --dist worksteal tests/conformance

check: $(READY_DEV) ## format, lint, types, layers and the fast tests
	$(VENV)/bin/ruff format --check src tests benchmarks examples
	$(VENV)/bin/ruff check src tests benchmarks examples
	$(VENV)/bin/mypy
	$(PYTHON) -m pytest -n 2 tests/architecture tests/unit tests/contract tests/property

format: $(READY_DEV) ## format the code
	$(VENV)/bin/ruff format src tests benchmarks examples
	$(VENV)/bin/ruff check --fix src tests benchmarks examples

docs: $(READY_DEV) ## write the generated pages of docs/
	$(PYTHON) -m hashrange.cli.manual

bench: $(READY_DEV) ## measure beside the peers, about twelve minutes (needs wrk and npm)
	$(PYTHON) benchmarks/run.py $(ARGS)

bench-full: $(READY_DEV) ## measure everything beside every peer, which takes hours
	$(PYTHON) benchmarks/run.py --full $(ARGS)

fuzz: $(READY_DEV) ## feed the server with what no client should send (ARGS="--seconds 60 --seed 7 --target wire")
	PYTHONPATH=tests $(PYTHON) -m fuzz.run $(ARGS)

ROUNDS ?= 1000
SEEDS ?= 5000
HISTORIES ?= 50
SEED ?= 1
soak: $(READY_DEV) ## the long runs of the reliability proofs (ROUNDS=1000 HISTORIES=50 SEEDS=5000 SEED=1)
	PYTHONPATH=tests $(PYTHON) -m crash.soak --rounds $(ROUNDS) --seed $(SEED)
	PYTHONPATH=tests $(PYTHON) -m consistency.soak --histories $(HISTORIES) --seed $(SEED)
	PYTHONPATH=tests $(PYTHON) -m simulation.soak --seeds $(SEEDS)

clean:          ## remove the virtual environment and caches
	rm -rf $(VENV) $(COMPILED) build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	@if command -v uv >/dev/null 2>&1; then uv venv -q $(VENV); else python3 -m venv $(VENV); fi

$(READY): $(VENV)/bin/python pyproject.toml
	@if command -v uv >/dev/null 2>&1; then uv pip install -q --python $(PYTHON) -e .; \
	 else $(PYTHON) -m pip install -q --disable-pip-version-check -e .; fi
	@touch $(READY)

$(READY_DEV): $(VENV)/bin/python pyproject.toml
	@if command -v uv >/dev/null 2>&1; then uv pip install -q --python $(PYTHON) -e '.[dev]'; \
	 else $(PYTHON) -m pip install -q --disable-pip-version-check -e '.[dev]'; fi
	@touch $(READY) $(READY_DEV)

# What is in build/ from an earlier list of modules would be installed too. mypyc reads the types of our dependencies, so
# it builds where they are.
$(COMPILED)/.ready: pyproject.toml setup.py $(shell find src -name '*.py')
	@if command -v uv >/dev/null 2>&1; then uv venv -q --allow-existing --seed $(COMPILED); else python3 -m venv $(COMPILED); fi
	@rm -rf build
	$(COMPILED)/bin/python -m pip install -q --disable-pip-version-check 'setuptools>=77' '.[dev]'
	@rm -rf build
	HASHRANGE_COMPILE=1 $(COMPILED)/bin/python -m pip install -q --disable-pip-version-check --no-build-isolation \
	  --no-deps --force-reinstall .
	@touch $@
