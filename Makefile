# `make` alone explains. Every target does its own set-up, and only once.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup demo test check format mutants chaos simulate soak bench bench-cpu bench-memory bench-routing bench-fairness docs tables clean

export PYTHON
# Tests start many processes; each would compile our modules anew.
unexport PYTHONDONTWRITEBYTECODE
bin := .venv/bin
QUESTION ?= Find a course that discusses the same topic as lesson 4 of course "Designing Web APIs"
CHAOS_KILLS ?= 300
CHAOS_WRITE_KILLS ?= 500
SEEDS ?= 1000
MINUTES ?= 10
SEED ?=
NUMBER ?= 300
ARGS ?=
REF ?=
# One worker more than there are cores: many tests wait for processes.
in_parallel := -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --dist worksteal

help: ## this page
	@echo 'Antiphon answers hard questions in rounds: five programs that exchange events over Redis.'
	@echo
	@echo 'Begin with `make demo`: it sets everything up in .venv and shows one question answered.'
	@echo
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)$$/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-21s %s\n", $$1, $$2}'
	@echo
	@echo 'Variables: PYTHON=python3.12   QUESTION="..."   CHAOS_KILLS=300   CHAOS_PROCESSES=1   CHAOS_WRITE_KILLS=500   SEEDS=1000   MINUTES=10   SEED=7   NUMBER=300   ARGS="further arguments"'
	@echo 'After any of them:  .venv/bin/antiphon --help'

setup: ## make .venv, install everything into it, and redis-server where that is possible
	@scripts/setup.sh

demo: setup ## ask one question over the example courses and watch the rounds
	$(bin)/antiphon ask '$(subst ','\'',$(QUESTION))' --tools examples.courses $(ARGS)

test: setup ## run the tests (ARGS="-k name" for some of them)
	$(bin)/python -m pytest $(in_parallel) $(ARGS)

check: setup ## everything that must hold: ruff, mypy, import-linter, tests
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	@# Exit code 2: on a busy machine its workers may not start within the three seconds that it gives them.
	$(bin)/mypy --num-workers 2 || { [ $$? -eq 2 ] && $(bin)/mypy; }
	$(bin)/lint-imports
	$(bin)/python -m pytest $(in_parallel)

format: setup ## put the code into shape
	$(bin)/ruff check --fix .
	$(bin)/ruff format .

mutants: setup ## change NUMBER lines drawn by lot (SEED=7 for the same ones again), and count what verify and tests catch
	$(bin)/python -m tests.mutants $(if $(SEED),--seed $(SEED)) --number $(NUMBER) $(ARGS)

chaos: setup ## the long form of the chaos tests: kill -9, CHAOS_KILLS times and CHAOS_WRITE_KILLS times inside writes; every fault point
	CHAOS_FAULTS=all CHAOS_FAILOVER_SESSIONS=200 CHAOS_KILLS=$(CHAOS_KILLS) CHAOS_WRITE_KILLS=$(CHAOS_WRITE_KILLS) $(bin)/python -m pytest -m chaos --timeout 0 $(ARGS)

simulate: setup ## the whole pipeline in one process, ten sessions and their faults for each of SEEDS seeds
	$(bin)/python -m tests.simulation --seeds $(SEEDS) $(ARGS)

soak: setup ## everything at once for MINUTES: full load while processes, Redis, network and clocks misbehave
	@command -v cc >/dev/null || scripts/install_command.sh cc || true
	$(bin)/python -m tests.soak --minutes $(MINUTES) $(ARGS)

bench: ## measure everything, or some parts (ARGS="forms replay"), beside floors and peers
	@scripts/setup.sh test,bench
	$(bin)/python -m benchmarks $(ARGS)

bench-cpu: ## compare the CPU per session with that of another commit, REF=...
	@scripts/setup.sh test,bench
	REF=$(REF) $(bin)/python -m benchmarks.cpu $(ARGS)

bench-memory: setup ## measure how much of what matters a briefing keeps, beside other methods
	$(bin)/python -m benchmarks.memory $(ARGS)

bench-routing: setup ## measure how often the tools that a question needs are offered, beside plain BM25
	$(bin)/python -m benchmarks.routing $(ARGS)

bench-fairness: ## measure how a flood of one tenant delays another's few queries
	@scripts/setup.sh test,bench
	$(bin)/python -m benchmarks.fairness $(ARGS)

docs: setup ## write docs/settings.md and docs/commands.md anew
	$(bin)/python -m antiphon.settings_table > docs/settings.md
	$(bin)/python scripts/commands_page.py > docs/commands.md

tables: setup ## write the tables anew that tests compare outputs with; read the difference
	$(bin)/python -m tests.tables

clean: ## remove .venv and all caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .mutants
