# Everything needs only Python 3.11+ and make. The virtual environment is made on first use, with uv if it is there.
VENV := .venv
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev

.PHONY: serve test check fast format docs bench clean help

help:           ## show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

serve: $(READY) ## set up and run the server (arguments: make serve ARGS="--port 9000")
	@$(VENV)/bin/hashrange serve $(ARGS)

test: $(READY_DEV) ## set up and run every test
	$(PYTHON) -m pytest -n 2 --dist worksteal

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

bench: $(READY_DEV) ## measure beside dynoxide (needs wrk and npm)
	$(PYTHON) benchmarks/run.py

clean:          ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

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
