# serve, test, check, bench, clean: each target installs what it needs into .venv first.
# Another Python: make serve PYTHON=/path/to/python3.12      Flags: make serve ARGS="--port 0"

VENV := .venv
RUN := $(VENV)/bin/python
PACKAGES := -p loopsmock.contracts -p loopsmock.mockserver -m loopsmock.__main__
WORKERS ?= auto
ARGS ?=
PYTHON ?=

.PHONY: help serve test check bench realism readme clean

help:
	@echo 'make serve   start the mock on http://127.0.0.1:8000 (ARGS="--port 0 --seed 7")'
	@echo 'make test    all tests, with branch coverage'
	@echo 'make check   ruff and mypy'
	@echo 'make bench   speed and memory beside their baselines'
	@echo 'make realism measure every scenario against its table, over 20 seeds'
	@echo 'make readme  write the generated parts of README.md, and contracts/CHECKS.md'
	@echo 'make clean   remove .venv and everything that was built'

serve: $(VENV)/base
	@exec $(RUN) -m loopsmock serve $(ARGS)

test: $(VENV)/test
	$(RUN) -m coverage erase
	$(RUN) -m coverage run -m pytest -n $(WORKERS) $(ARGS)
	$(RUN) -m coverage combine --quiet
	$(RUN) -m coverage report

check: $(VENV)/test .types/loopsmock
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	MYPYPATH=.types $(RUN) -m mypy $(PACKAGES)

bench: $(VENV)/test
	$(RUN) tests/bench/run.py $(ARGS)

realism: $(VENV)/test
	$(RUN) -m tests.realism $(ARGS)

readme: $(VENV)/test
	$(RUN) -m tests.readme

clean:
	rm -rf $(VENV) .types build dist *.egg-info .coverage .coverage.* .hypothesis .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Type checkers find the package under its name, whatever the checkout is called.
.types/loopsmock:
	mkdir -p .types
	ln -sfn .. $@

$(VENV)/base: pyproject.toml $(VENV)/made
	@echo 'installing into $(VENV) …' >&2
	@$(RUN) -m pip install --quiet --disable-pip-version-check -e . >&2
	@touch $@

$(VENV)/test: pyproject.toml $(VENV)/made
	@echo 'installing the test tools into $(VENV) …' >&2
	@$(RUN) -m pip install --quiet --disable-pip-version-check -e '.[test]' >&2
	@touch $@ $(VENV)/base

# A name on the path may be a shim that does not run, an old Python, or one without ensurepip: try each.
$(VENV)/made:
	@found=; bare=; \
	for candidate in $(if $(PYTHON),'$(PYTHON)',python3 python3.14 python3.13 python3.12 python3.11 python); do \
	  "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue; \
	  if "$$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then found=$$candidate; break; fi; \
	  bare=$${bare:-$$candidate}; \
	done; \
	if [ -z "$$found" ] && [ -n "$$bare" ]; then \
	  echo "make: $$bare has no ensurepip, so it cannot make a virtual environment." >&2; \
	  echo "make: on Debian and Ubuntu install python3-venv, or name another: make PYTHON=/path/to/python3.11" >&2; \
	  exit 1; \
	elif [ -z "$$found" ]; then \
	  echo "make: $(if $(PYTHON),$(PYTHON) is not a Python >= 3.11 that runs,found no Python >= 3.11)." >&2; \
	  echo "make: name one: make PYTHON=/path/to/python3.11" >&2; \
	  exit 1; \
	fi; \
	rm -rf $(VENV); "$$found" -m venv $(VENV)
	@touch $@
