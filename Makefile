# Everything runs in .venv, which the first target that needs it makes.
VENV := .venv
BIN := $(VENV)/bin
CHECKED := app tests migrations bench
PYTHON_DIRS = $(wildcard $(CHECKED)) wsgi.py gunicorn.conf.py $(wildcard bin/*.py)
PIP_COMPILE := $(BIN)/pip-compile --quiet --upgrade --generate-hashes --strip-extras --allow-unsafe \
	--no-header --no-emit-index-url --no-emit-find-links

# Tests start dozens of processes: none compiles a thousand modules that the last one compiled.
unexport PYTHONDONTWRITEBYTECODE
# So many requests show the order of sizes; MEMORY= asks for an hour of them.
MEMORY = --requests 400 --steps 4 --stage 60

.DEFAULT_GOAL := help
.PHONY: help setup run test test-all browser faults load fuzz mutation coverage audit bench texts pictures reference differential conformance suite schemas model clients licences sbom check lint format types migration requirements clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.development ## make .venv with everything for running, testing and checking

run: $(VENV)/.runtime ## start the service: http://127.0.0.1:8000 unless PORT says otherwise
	@exec $(BIN)/python -m app.start

test: $(VENV)/.development ## the short form of all tests, on all cores; ARGS="tests/odata -k filter" for all of some
	@$(BIN)/python -m pytest $(if $(ARGS),$(ARGS),--form short --numprocesses auto --dist worksteal)

test-all: $(VENV)/.development ## what the short form leaves out: the other database, whole matrices, what takes long
	@$(BIN)/python -m pytest --form rest --numprocesses auto --dist worksteal

browser: $(VENV)/.development ## the pages in a real browser; TEST_BROWSER is another Chromium
	@test -x "$${TEST_BROWSER:-/usr/bin/chromium}" || { echo "no Chromium: install it, or name it in TEST_BROWSER" >&2; exit 1; }
	@$(BIN)/python -m pytest tests/browser $(ARGS)

faults: $(VENV)/.development ## put faults to a running service on servers of its own: make faults ARGS="redis disk"
	@$(BIN)/python -W ignore -m tests.faults $(ARGS)

load: $(VENV)/.development ## many people for ten minutes on PostgreSQL and Redis: make load ARGS="--minutes 2 --nginx"
	@$(BIN)/python -W ignore -m bench.load $(ARGS)

bench: $(VENV)/.development ## what requests cost: all of docs/performance.md; beside a rival where PEERS_DIR is its folder
	@missed=; for each in start edge steps grammar search nlq pdf issuing growth "memory $(MEMORY)" \
		$(if $(PEERS_DIR),"peers --plain $(ARGS)"); do \
		echo "== $$each"; $(BIN)/python -m bench.$$each || missed="$$missed $${each%% *}"; done; \
	test -z "$$missed" || { echo "beyond their budget, or failed:$$missed" >&2; exit 1; }

pictures: $(VENV)/.development ## make the pictures of README.md and docs/ anew, of a demonstration company of today
	@$(BIN)/python -W ignore -m tests.browser.pictures

texts: $(VENV)/.development ## bring the catalogues of the console's texts up to date; ARGS=fr begins one for another language
	@$(BIN)/python -m tests.console.catalogue $(ARGS)

reference: $(VENV)/.development ## serve the reference model of OData: http://127.0.0.1:8000 unless PORT says otherwise
	@exec $(BIN)/python -m tests.reference

differential: $(VENV)/.development ## random queries on both databases and in Python: make differential COUNT=20000 SEED=1
	@$(BIN)/python -W ignore -m tests.odata.differential $(or $(COUNT),20000) $(or $(SEED),1)

conformance: $(VENV)/.development ## each requirement of OData 4.01 with pass or fail, and the totals per level
	@$(BIN)/python -m tests.conformance 2>/dev/null

suite: $(VENV)/.development ## what the public OData suite expects of its model: met, argued or open, per section
	@$(BIN)/python -m tests.suite

schemas: $(VENV)/.development ## $$metadata of each model against the schemas of OASIS (installs them once)
	@$(BIN)/python -W ignore -m tests.schemas

model: $(VENV)/.development ## a small model on a real server, for its tests: http://127.0.0.1:8081/v1 (installs it once)
	@exec $(BIN)/python -m tests.ai.model

clients: $(VENV)/.development ## clients that others wrote, unmodified, against a running service (installs them once)
	@$(BIN)/python -m tests.clients 2>/dev/null

fuzz: $(VENV)/.development ## random and damaged input for whatever reads it: make fuzz SECONDS=60
	@$(BIN)/python -W ignore -m tests.fuzz $(or $(SECONDS),20) $(ARGS)

mutation: $(VENV)/.development ## change permissions, money and parser a little: do tests notice? ARGS="money" for one
	@$(BIN)/python -m tests.mutation $(ARGS)

coverage: $(VENV)/.development ## all tests with the share of branches that they reach; ARGS as for test
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest $(ARGS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

licences: $(VENV)/.runtime ## the licence of each package that the service is run with
	@$(BIN)/python bin/licences.py requirements.txt

sbom: $(VENV)/sbom/.installed ## the list of components as CycloneDX (installs what writes it once): make -s sbom > sbom.json
	@$(VENV)/sbom/bin/cyclonedx-py requirements --output-reproducible requirements.txt

audit: $(VENV)/.development ## bandit over the code; pins, hashes and secrets of the repository
	@$(BIN)/bandit --quiet --ini setup.cfg --recursive app
	@$(BIN)/python -m pytest --quiet tests/requirements/test_source.py

check: test test-all lint types ## everything that CI runs

lint: $(VENV)/.development ## look for mistakes and for code that is not formatted
	@$(BIN)/ruff check $(PYTHON_DIRS)
	@$(BIN)/ruff format --check $(PYTHON_DIRS)

format: $(VENV)/.development ## format the code, sort the imports
	@$(BIN)/ruff check --fix-only --quiet $(PYTHON_DIRS)
	@$(BIN)/ruff format $(PYTHON_DIRS)

types: $(VENV)/.development ## check the types
	@$(BIN)/mypy

migration: $(VENV)/.development ## write the next migration from the models: make migration NAME="add x"
	@test -n "$(NAME)" || { echo 'a name is needed: make migration NAME="add colour to clients"' >&2; exit 1; }
	@$(BIN)/flask --app wsgi db upgrade
	@$(BIN)/flask --app wsgi db migrate -m "$(NAME)"

requirements: $(VENV)/.development ## pin the newest of requirements.in and its companions, with hashes
	@$(PIP_COMPILE) --output-file requirements.txt requirements.in
	@$(PIP_COMPILE) --output-file requirements-otel.txt requirements-otel.in
	@$(PIP_COMPILE) --output-file requirements-dev.txt requirements-dev.in
	@$(PIP_COMPILE) --output-file requirements-sbom.txt requirements-sbom.in

clean: ## remove .venv and what tools left behind; data/ stays
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp says which requirements were installed; another list installs anew.
$(VENV)/.runtime: requirements.txt | $(VENV)/bin/python
	@echo "Installing the requirements, once; this takes a minute or two."
	@$(BIN)/python bin/install.py requirements.txt
	@touch $@

$(VENV)/.development: requirements-dev.txt requirements.txt | $(VENV)/bin/python
	@echo "Installing what tests and checks need, once; this takes a minute or two."
	@$(BIN)/python bin/install.py requirements-dev.txt
	@touch $@ $(VENV)/.runtime

# Its packages are nobody else's.
$(VENV)/sbom/.installed: requirements-sbom.txt | $(VENV)/bin/python
	@$(BIN)/python -m venv $(VENV)/sbom
	@$(VENV)/sbom/bin/python bin/install.py requirements-sbom.txt
	@touch $@

$(VENV)/bin/python:
	@bin/make-venv $(VENV)
