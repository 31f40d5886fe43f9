# Every target installs what it needs: a bare clone, Python 3.11 and make are enough.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help install dev run demo test prove quick check static unit fast programs conformance bluesky container bench screenshots docs audit release lock clean

# The processes that tests start would compile every module they import.
unexport PYTHONDONTWRITEBYTECODE

# One more than cores: tests wait for browsers, databases and processes of their own.
WORKERS := 3
DURATION := 25
PYTEST := .venv/bin/python -m pytest -n $(WORKERS) --dist worksteal

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: ## Put the server and its dependencies into .venv
	@scripts/environment.sh runtime

dev: ## The same with everything the tests need
	@scripts/environment.sh dev

run: install ## Serve on http://localhost:8080
	@exec .venv/bin/assent serve

demo: install ## Your agent asks, you say yes, it happens once: told on a server that is killed on the way
	@.venv/bin/assent demo

test: dev ## Everything: checks, all tests on both stores, conformance, real clients
	@$(MAKE) --no-print-directory -j2 -Otarget static programs
	@$(PYTEST) --durations=10; status=$$?; cat .missing-programs; exit $$status

prove: dev programs ## The fault programme with its large numbers, for about DURATION minutes; writes RELIABILITY.md
	@ASSENT_TEST_PROVE=1 ASSENT_TEST_PROVE_MINUTES=$(DURATION) $(PYTEST) -m prove --durations=10

quick: dev ## While you work, in seconds: lint, types, import rules, unit tests
	@$(MAKE) --no-print-directory -j2 -Otarget static unit

check: dev ## Before a commit: lint, types, import rules, fast tests
	@$(MAKE) --no-print-directory -j2 -Otarget static fast

static: dev ## Only lint, types and import rules
	@.venv/bin/ruff check --quiet .
	@.venv/bin/ruff format --quiet --check .
	@.venv/bin/lint-imports --no-logo
	@.venv/bin/mypy --num-workers 2

unit: dev ## Only the unit tests, which need no server, no store and no browser; slow ones are left out
	@$(PYTEST) -m "not slow" --quiet tests/unit packages/*/tests/unit

fast: dev ## Only the fast tests, over stdio and the embedded store, without providers, commands and load
	@$(PYTEST) -m "not slow" -k "not postgres and not http-sqlite" --quiet \
		--ignore-glob='*/launch/tests/*/channels' --ignore-glob='*/wire/connections' --ignore-glob='*/system/cli' \
		--ignore=tests/system/load

# What could not be had is said at the end of a run, in a line each.
programs: dev
	@{ scripts/postgres.sh && scripts/programs.sh && scripts/node_tools.sh && scripts/peers.sh; } >.missing-programs

conformance: dev ## The official MCP conformance suite against the real server
	@missing=$$(scripts/node_tools.sh) || exit 1; \
	if [ -n "$$missing" ]; then printf '%s\n' "$$missing"; exit 1; fi
	@.venv/bin/python -m pytest -v tests/system/interop/test_conformance.py

bluesky: dev ## Bluesky's reference server, and our connector and emulator against it
	@scripts/atproto.sh
	@.venv/bin/python -m pytest -v packages/launch/tests/system/channels/bluesky_reference.py

container: dev ## Build the image of deploy/Containerfile; start it, kill it, start it again
	@scripts/container.sh
	@.venv/bin/python -m pytest -v tests/system/install/container_image.py

bench: dev ## Measure, and print the table; PEERS=1 with other frameworks
	@scripts/node_tools.sh
	@PEERS=$(PEERS) .venv/bin/python -m benchmarks

screenshots: dev ## Take the pictures of every screen, into docs/screens
	@.venv/bin/python -m tests.support.shell.gallery docs/screens

docs: dev ## Build the documentation site into dist/docs; a warning or a dead link is an error
	@.venv/bin/sphinx-build --quiet --fail-on-warning --keep-going -d build/docs -c docs . dist/docs

audit: dev ## Known vulnerabilities and licences of what is locked, and an SBOM in dist
	@.venv/bin/python scripts/audit.py

release: dev ## Build and check the files of a release, with SBOM and checksums, in dist/release
	@.venv/bin/python scripts/release.py build

lock: ## Resolve the dependencies again
	@scripts/lock.sh
	@scripts/peers.sh lock

clean: ## Remove everything that is not in git
	@rm -rf .venv .uv .node .atproto .peers .peers-bench .programs .missing-programs dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
