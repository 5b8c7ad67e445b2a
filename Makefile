# The two commands that matter are `make run` and `make test`; `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
BENCH := .venv-bench/bin

.PHONY: help setup run test quick check bench peers chaos lock audit sbom dist clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: .venv/.ready  ## make .venv with everything pinned

.venv/.ready: requirements.lock pyproject.toml packages/files/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; name another: make run PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock || \
	  { echo 'The pinned packages could not be fetched; see to the network, or to the index that pip is told to use, and run make again.' >&2; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e packages/files -e .
	$(BIN)/python -m compileall -q src packages/files/src
	touch $@

run: setup  ## open the office on http://127.0.0.1:8787
	@# What keeps it from opening it says itself; make would add an error of its own to it.
	@trap : INT; $(BIN)/postoffice serve || true

# Half of what a test does is waiting, for a server to start or to be killed: so there are three workers for each of two cores.
test: setup  ## run every test
	@# Hundreds of programs are started, and each would compile again what was edited, where Python is told to write no bytecode.
	$(BIN)/python -m compileall -q src packages/files/src
	$(BIN)/python tools/browser.py
	$(BIN)/python -m pytest -q -n 6 --dist loadfile --no-loadscope-reorder --ignore=tests/peers

quick: setup  ## the rules, the store and the office, on SQLite only
	$(BIN)/python -m pytest -q -n 2 --sqlite-only tests/core tests/store tests/office $(wildcard tests/acts)

check: setup  ## lint, types, licences
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/licences.py
	$(BIN)/python tools/lock.py

bench: .venv-bench/.ready .venv-seed001/.ready  ## print the performance tables; `python -m bench --report` writes them down
	$(BENCH)/python -m bench

.venv-bench/.ready: requirements.lock bench/requirements.lock pyproject.toml packages/files/pyproject.toml
	$(PYTHON) -m venv .venv-bench
	$(BENCH)/pip install --quiet --disable-pip-version-check -r requirements.lock -r bench/requirements.lock
	$(BENCH)/pip install --quiet --disable-pip-version-check --no-deps -e packages/files -e .
	touch $@

.venv-seed001/.ready: bench/seed001.lock
	$(PYTHON) -m venv .venv-seed001
	.venv-seed001/bin/pip install --quiet --disable-pip-version-check -r bench/seed001.lock
	touch $@

peers: setup .venv-audit/.ready .venv-bench/.ready .venv-seed001/.ready .venv-fastmcp/.ready .venv-moto/.ready .venv-node/.ready .venv-clients/.ready .venv-openclaw/.ready .venv-ledger/.ready .venv-nanobot02/.ready .venv-nanobot03/.ready  ## run the tests against real outside programs
	$(BIN)/python -m pytest -q tests/peers

.venv-fastmcp/.ready: tests/peers/fastmcp.lock
	$(PYTHON) -m venv .venv-fastmcp
	.venv-fastmcp/bin/pip install --quiet --disable-pip-version-check -r tests/peers/fastmcp.lock
	touch $@

.venv-moto/.ready: tests/peers/moto.lock
	$(PYTHON) -m venv .venv-moto
	.venv-moto/bin/pip install --quiet --disable-pip-version-check -r tests/peers/moto.lock
	touch $@

.venv-node/.ready: tests/peers/node/package.json
	mkdir -p .venv-node
	cp tests/peers/node/package.json .venv-node/
	cd .venv-node && npm install --no-package-lock --no-audit --no-fund --loglevel=error
	touch $@

.venv-clients/.ready: tests/peers/clients/package.json
	mkdir -p .venv-clients
	cp tests/peers/clients/package.json .venv-clients/
	cd .venv-clients && npm install --no-package-lock --no-audit --no-fund --loglevel=error
	touch $@

.venv-openclaw/.ready: tests/peers/openclaw/package.json
	mkdir -p .venv-openclaw
	cp tests/peers/openclaw/package.json .venv-openclaw/
	cd .venv-openclaw && npm install --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error
	touch $@

.venv-ledger/.ready: tests/peers/ledger/package.json
	mkdir -p .venv-ledger
	cp tests/peers/ledger/package.json .venv-ledger/
	cd .venv-ledger && npm install --omit=peer --no-package-lock --no-audit --no-fund --loglevel=error
	touch $@

.venv-nanobot%/.ready: tests/peers/nanobot%.lock $(wildcard packages/*/pyproject.toml packages/*/src/*/*.py packages/nanobot/src/nanobot/channels/mailbox/*.py)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check -r $<
	$(@D)/bin/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir $(@D)/wheels packages/files packages/nanobot
	$(@D)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(@D)/wheels/*.whl
	touch $@

chaos: setup  ## run the faults and soaks at length, with a table at the end
	POSTOFFICE_EXAMPLES=10 $(BIN)/python -m pytest -q --timeout=3600 -n 2 --dist loadfile --no-loadscope-reorder tests/chaos tests/machine tests/proof tests/doors/test_openapi.py tests/mcp/test_seed_001.py

lock: setup .venv-audit/.ready  ## pin the newest versions again
	$(BIN)/pip-compile --quiet --upgrade --extra postgres --extra ledger --extra nats --extra notify --extra traces --extra dev --strip-extras --no-emit-index-url --no-emit-find-links \
	  --no-emit-trusted-host --no-emit-options --no-header --annotation-style=line -o requirements.lock pyproject.toml
	$(BIN)/pip-compile --quiet --upgrade --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
	  --no-header --annotation-style=line -o tools/audit.lock tools/audit.in
	.venv-audit/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --constraint requirements.lock \
	  --no-header --no-annotate -o plugins/program/requirements.lock pyproject.toml

audit: setup .venv-audit/.ready  ## look through what is pinned: known faults, age, licences
	$(BIN)/python -m tools.audit

sbom: setup .venv-audit/.ready  ## write the bill of materials, build/sbom.cdx.json
	$(BIN)/python -m tools.sbom

dist: setup .venv-audit/.ready  ## build what a release would publish, in dist/
	$(BIN)/python -m tools.dist

.venv-audit/.ready: tools/audit.lock
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/pip install --quiet --disable-pip-version-check -r tools/audit.lock
	touch $@

clean:  ## remove what was made
	rm -rf .venv .venv-* build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
