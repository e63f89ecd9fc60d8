# make demo: set everything up in .venv and audit the built-in model.   make test: set everything up and run every check.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src examples -type f -not -name '*.pyc' -not -path '*/__pycache__*') pyproject.toml constraints.txt

.PHONY: demo test lint clean

demo: $(VENV)/installed
	$(BIN)/disorder audit

test: $(VENV)/installed-all lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/installed-all
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/installed: $(SOURCES) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -c constraints.txt .
	touch $@

$(VENV)/installed-all: $(SOURCES) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -c constraints.txt ".[all]" --group dev
	$(BIN)/python -m pip install --quiet --no-deps ./examples/disorder-stutter
	touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) build dist
