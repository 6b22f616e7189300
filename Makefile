# Two commands matter: `make demo` and `make test`. Both need Python 3.11+, make and git, and no key.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help env demo test lint units notebooks live bench render labs record train-critic train-tiny lock clean

PYTHON ?= python3
BIN := .venv/bin

# Two processes share two cores: with one thread each they do not wait for one another.
ALONE := OMP_NUM_THREADS=1
# Nothing that a test prints may depend on the user's keys, caches or network.
QUIET := $(ALONE) PROVIDER=replay QDRANT_URL= COOKBOOK_RECORD= HF_HUB_OFFLINE=1 LITELLM_LOCAL_MODEL_COST_MAP=True PYTHONPATH=$(CURDIR)/tests/netblock

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

env: .venv/installed ## build .venv once, and again when the requirements change

.venv/installed: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is not Python 3.11 or newer; name one that is: make PYTHON=/path/to/python3.12 ..."; exit 1; }
	@echo "Building .venv with $$($(PYTHON) --version): two to five minutes the first time."
	$(PYTHON) -m venv .venv
	@$(BIN)/pip install --disable-pip-version-check -c requirements.lock -e ".[local,documents,notebooks,dev]" | \
	  { grep --line-buffered -E '^ *(Downloading .*MB|Installing|Successfully)' | cut -c 1-100 || true; }
	@touch $@

demo: env ## three questions through the loop with their traces, and the comparison table
	$(BIN)/cookbook demo

test: lint units notebooks ## everything: lint, tests, notebooks

lint: env ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

units: env ## the test suite, without weights and network
	$(ALONE) $(BIN)/pytest -n 2

notebooks: env ## execute copies of all notebooks and compare what they print with what is committed
	rm -rf .build/notebooks && mkdir -p .build && cp -R notebooks .build/notebooks
	$(QUIET) COOKBOOK_CACHE=$(CURDIR)/.build/cache $(BIN)/pytest -q -n 2 -o addopts= --nbmake --nbmake-timeout=300 \
	  --nbmake-kernel=python3 --overwrite .build/notebooks
	$(BIN)/cookbook notebooks check --executed .build/notebooks

live: env ## the tests that need model weights (cookbook models fetch) or a server (QDRANT_URL)
	$(BIN)/pytest -m live -rs

bench: env ## vanilla, the handbook graph and lean against the clock, live on the local model (half an hour)
	$(BIN)/cookbook bench

render: env ## execute all notebooks in place on the recordings and store their outputs
	$(QUIET) $(BIN)/cookbook notebooks render

labs: env ## make both notebooks of each family of labs from its source, and execute them
	$(QUIET) $(BIN)/cookbook labs build

record: env ## ask the real model what the notebooks need and no recording has (hours on a laptop)
	for name in $(notdir $(wildcard notebooks/*.ipynb)); do $(BIN)/cookbook record --notebook $$name; done

train-critic: env ## train the critic of relevance and support again (with --bfloat16, for AMX: 21 minutes)
	$(BIN)/cookbook train critic --bfloat16

train-tiny: env ## train the tiny Self-RAG with reflection tokens again (with --bfloat16, for AMX: 21 minutes)
	$(BIN)/cookbook train tiny --bfloat16

lock: ## resolve the newest allowed versions into requirements.lock
	rm -rf .build/lock && $(PYTHON) -m venv .build/lock
	.build/lock/bin/pip install -q -q -e ".[local,documents,notebooks,dev]"
	{ sed -n '/^#/p' requirements.lock; .build/lock/bin/pip freeze --exclude-editable | sed -E 's/\+[^;]*$$//'; } > .build/requirements.lock
	mv .build/requirements.lock requirements.lock && rm -rf .build/lock

clean: ## delete what tests and renders left behind; .venv stays
	rm -rf .build .pytest_cache .mypy_cache .ruff_cache .hypothesis
