# Every target installs what it needs: a bare clone, Python 3.11 and make are enough.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help install dev run demo test check static fast conformance bluesky bench screenshots lock clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: ## Put the server and its dependencies into .venv
	@scripts/environment.sh runtime

dev: ## The same with everything the tests need
	@scripts/environment.sh dev

run: install ## Serve on http://127.0.0.1:8080
	@exec .venv/bin/assent serve

demo: install ## Play the whole loop on a server of its own, in under a minute
	@.venv/bin/assent demo

test: static ## Everything: checks, all tests on both stores, conformance, real clients
	@missing=$$(scripts/postgres.sh && scripts/programs.sh && scripts/node_tools.sh && scripts/peers.sh) || exit 1; \
	.venv/bin/python -m pytest; status=$$?; \
	if [ -n "$$missing" ]; then printf '%s\n' "$$missing"; fi; \
	exit $$status

check: static fast ## The inner loop: lint, types, import rules, fast tests

static: dev
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports --no-logo

fast: dev ## Only the fast tests
	@.venv/bin/python -m pytest -m "not slow"

conformance: dev ## The official MCP conformance suite against the real server
	@missing=$$(scripts/node_tools.sh) || exit 1; \
	if [ -n "$$missing" ]; then printf '%s\n' "$$missing"; exit 1; fi
	@.venv/bin/python -m pytest -v tests/interop/test_conformance.py

bluesky: dev ## Bluesky's reference server, and our connector and emulator against it
	@scripts/atproto.sh
	@.venv/bin/python -m pytest -v tests/providers/bluesky_reference.py

bench: dev ## Measure, and print the table
	@.venv/bin/python -m benchmarks

screenshots: dev ## Take the pictures of every screen anew, into docs/screens
	@.venv/bin/python -m tests.console.gallery docs/screens

lock: ## Resolve the dependencies anew
	@scripts/lock.sh
	@scripts/peers.sh lock

clean: ## Remove everything that is not in git
	@rm -rf .venv .uv .node .atproto .peers dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
