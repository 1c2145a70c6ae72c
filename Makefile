# One command sets up, one runs, one tests, one formats. `make help` lists them all.
# Every target that needs the environment makes it first, so a bare machine needs only make and Python.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# An environment that forbids compiled files makes every process compile the whole package again, which
# takes longer than most tests. Here they are written (git ignores them).
export PYTHONDONTWRITEBYTECODE :=

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Without what only developers need: for those who run it.
RUNS := $(VENV)/.runs

# What `make run` starts: make run NODES=10 UP="--config scheduler.yaml --plugin mine.py --port 0"
NODES ?= 3
UP ?=

# What `make demo` shows.
CLUSTER ?= examples/cluster.yaml
PODS ?= examples/pods.yaml
PLACED_POD ?= web-0
PENDING_POD ?= gpu-trainer
INPUT = -f $(CLUSTER) -f $(PODS)

# What `make bench` measures: WORKLOADS=all for everything, SIZE=500Nodes for a quick look. BENCH adds
# arguments: make bench BENCH="--json" > before.json; make bench BENCH="--compare before.json --plot now.svg"
WORKLOADS ?= basic spread affinity anti-affinity mixed
SIZE ?= 5000Nodes
BENCH ?=

# The time that files in a wheel carry: that of the commit, or any fixed one where there is no git.
EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1577836800)

# What checks the types of the page's scripts.
TYPESCRIPT ?= 7.0.2

# What `make image` builds with and for, and where `make push` pushes to.
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' src/podium/__init__.py)
PLATFORM ?=
REGISTRY ?=
ENGINE ?= $(notdir $(firstword $(shell command -v docker podman buildah)))

# Where `make install` puts a link if there is neither uv nor pipx.
PREFIX ?= $(HOME)/.local

# Extra arguments for pytest: make test ARGS="-k quantity"
ARGS ?=
# One worker more than cores: some tests wait for processes. `nproc` counts the cores that may be used.
WORKERS ?= $(shell echo $$(($$(nproc 2>/dev/null || echo 1) + 1)))
PYTEST = $(BIN)/pytest -n $(WORKERS) --dist worksteal

# The packages that do no I/O, for `make test-unit`: no process, socket or browser is started.
UNIT := addons/collection $(addprefix addons/gpu/,cards dialects packing plugin) golang \
	$(addprefix kubernetes/,cel controllers kinds releases rules) net/files \
	$(addprefix offline/,driver optimum scenarios simulate sweeps what_if) parity scheduler

# What `make test-changed` compares with: make test-changed BASE=main
BASE ?= HEAD

# The Debian release that `make test-fresh` tries the two commands on.
SUITE ?= trixie

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9.-]+:.*## / { printf "  make %-21s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(READY) ## make .venv with everything in it

.PHONY: run
run: $(RUNS) ## run a whole cluster with a few pods in it, for kubectl; Ctrl-C stops it
	$(BIN)/podium up $(NODES) --apply examples/first-steps.yaml $(UP)

.PHONY: demo
demo: $(RUNS) ## place the example pods, then explain one that fits and one that does not
	@# Exit code 1 says "some pods did not fit", which the example means to show.
	$(BIN)/podium simulate $(INPUT) || [ $$? -eq 1 ]
	$(BIN)/podium explain $(PLACED_POD) $(INPUT)
	$(BIN)/podium explain $(PENDING_POD) $(INPUT) || [ $$? -eq 1 ]

.PHONY: test
test: $(READY) ## run the tests, on all cores: units, recorded cases, commands, a walk through each real part
	$(PYTEST) -m "not slow" $(ARGS)

.PHONY: test-unit
test-unit: $(READY) ## run the tests of the packages that do no I/O, in a minute or so
	$(PYTEST) -m "not slow" $(UNIT:%=tests/%) $(ARGS)

.PHONY: test-rest
test-rest: $(READY) ## run what `make test` leaves out: slow tests, and random tests with more examples
	$(PYTEST) -m "slow or hypothesis" --hypothesis-profile=thorough $(ARGS)

.PHONY: test-all
test-all: test test-rest ## run everything

.PHONY: test-changed
test-changed: $(READY) ## run the tests that the change since BASE reaches through imports
	@files=$$($(BIN)/python tests/support/suite/reach.py --base $(BASE)); \
	if [ -z "$$files" ]; then echo "test-changed: no test depends on what changed since $(BASE)"; \
	else $(PYTEST) -m "not slow" $$files $(ARGS); fi

.PHONY: test-fresh
test-fresh: ## try `make run` and `make test` in a bare Debian: make test-fresh SUITE=trixie; needs root and debootstrap
	@.ci/fresh $(SUITE)

.PHONY: test-pythons
test-pythons: ## test the packages that do no I/O on Python 3.11 to 3.14, as far as found, and compare outputs: PYTHONS="3.12 3.14"
	@PYTHONS="$(PYTHONS)" .ci/pythons $(UNIT:%=tests/%) $(ARGS)

.PHONY: coverage
coverage: $(READY) ## run every test and say which lines and branches none of them took; twice as long
	$(PYTEST) --cov --cov-report=term:skip-covered $(ARGS)

.PHONY: soak
soak: $(READY) ## let a cluster live for more than 100,000 checked transitions
	PODIUM_LONG=1 $(BIN)/pytest -s tests/scheduler/engine/test_stateful.py tests/scheduler/engine/test_stateful_storage.py $(ARGS)

.PHONY: check
check: $(READY) ## formatting, lint, types, layers and dead code; changes nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/vulture
	@$(MAKE) check-page

# The scripts of the page have types in their comments. Nothing else here needs Node.
.PHONY: check-page
check-page: ## types of the page's scripts, where tsc or npx is there
	@if command -v tsc >/dev/null; then tsc --project jsconfig.json; \
	elif command -v npx >/dev/null && npx --yes --package typescript@$(TYPESCRIPT) tsc --version >/dev/null 2>&1; then \
	  npx --yes --package typescript@$(TYPESCRIPT) tsc --project jsconfig.json; \
	else echo "check-page: skipped, there is neither tsc nor an npx that can fetch it"; fi

.PHONY: format
format: $(READY) ## format the code and apply the safe lint fixes
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

.PHONY: bench
bench: $(READY) ## measure the engine on the reference suite's workloads
	@$(BIN)/podium bench engine $(foreach w,$(WORKLOADS),--workload $(w)) --size $(SIZE) $(BENCH)

.PHONY: scaling
scaling: $(READY) ## measure how cost grows and renew the tables of docs/scaling.md
	$(BIN)/podium bench scaling --write docs/scaling.md

.PHONY: image
image: ## build the image podium:VERSION with docker, podman or buildah
	$(ENGINE) build $(PLATFORM) -f deploy/Dockerfile -t podium:$(VERSION) .

.PHONY: build-scheduler.amd64
build-scheduler.amd64: PLATFORM = --platform=linux/amd64
build-scheduler.amd64: image ## build the image for amd64, whatever this machine is

.PHONY: push
push: ## build the image, name it REGISTRY/podium:VERSION and push it there
	@test -n "$(REGISTRY)" || { echo "say where to: make push REGISTRY=registry.example.com/team"; exit 2; }
	@$(MAKE) --no-print-directory image
	$(ENGINE) tag podium:$(VERSION) $(REGISTRY)/podium:$(VERSION)
	$(ENGINE) push $(REGISTRY)/podium:$(VERSION)

.PHONY: wheel
wheel: $(READY) ## build dist/podium-*.whl; the same commit gives the same bytes
	@rm -rf dist
	@SOURCE_DATE_EPOCH=$(EPOCH) $(BIN)/python -m hatchling build -t wheel -d dist

.PHONY: install
install: wheel ## have the command podium: with uv or pipx, otherwise a link to .venv in ~/.local/bin
	@eval "$$install_command"

.PHONY: clean
clean: ## remove the environment, caches and builds
	rm -rf $(VENV) $(VENV)-* build dist .coverage .coverage.* htmlcov \
		.mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

define install_command
if command -v uv >/dev/null; then
	uv tool install --force --constraints constraints.txt dist/*.whl
elif command -v pipx >/dev/null; then
	pipx install --force --pip-args="--constraint $(CURDIR)/constraints.txt" dist/*.whl
else
	mkdir -p "$(PREFIX)/bin"
	ln -sf "$(CURDIR)/$(BIN)/podium" "$(PREFIX)/bin/podium"
	echo "install: $(PREFIX)/bin/podium runs from this clone"
	case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo "install: $(PREFIX)/bin is not on your PATH" ;; esac
fi
endef
export install_command

# --- the environment ---------------------------------------------------------------------------

# Debian ships Python without the part that makes environments; root may simply add it. A Python that
# was asked for by name is never installed.
define require_python
if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then
	if [ "$(PYTHON)" = python3 ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		echo "setup: $(PYTHON) cannot make virtual environments, adding python3-venv"
		apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
	fi
	$(PYTHON) -c 'import ensurepip, venv' || {
		echo "setup: needs Python 3.11 or later with the venv module" \
			"(Debian, Ubuntu: apt-get install python3-venv); another Python: make setup PYTHON=/path/to/python3" >&2
		exit 1
	}
fi
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
	echo "setup: needs Python 3.11 or later, $(PYTHON) is $$($(PYTHON) -V); another one: make setup PYTHON=/path/to/python3" >&2
	exit 1
}
endef

# hatchling is installed first and used without build isolation, so that it too has its pinned version.
define install
if command -v uv >/dev/null; then
	[ -x $(BIN)/python ] || uv venv --python "$$(command -v $(PYTHON))" $(VENV)
	uv pip install --python $(BIN)/python -c constraints.txt hatchling
	uv pip install --python $(BIN)/python -c constraints.txt --no-build-isolation -e "$$WANTED"
else
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt hatchling
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		--no-build-isolation -e "$$WANTED"
fi
endef

export require_python install
$(READY): pyproject.toml constraints.txt
	@echo "setup: making $(VENV)"
	@eval "$$require_python"
	@export WANTED='.[dev]'; eval "$$install"
	@touch $@ $(RUNS)

$(RUNS): pyproject.toml constraints.txt
	@echo "setup: making $(VENV), without what only developers need"
	@eval "$$require_python"
	@export WANTED=.; eval "$$install"
	@touch $@
