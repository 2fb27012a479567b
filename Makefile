# Everything a developer runs. `make` alone lists it.
#
#     make demo PYTHON=python3.12     another interpreter
#     make test ARGS="-k mdi -x"      more arguments for pytest
#     make test WORKERS=1             tests in one process; by default one a processor

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
WORKERS ?= $(shell nproc 2>/dev/null || echo 2)
DEMO ?= duramen-demo
SITE ?= build/docs
PYTHON311 ?= python3.11
PYTHON312 ?= python3.12
LOWEST ?= .venv-lowest
WHEEL ?= dist/wheels
PYTHONS ?= $(PYTHON311) $(PYTHON312) python3.13
VERSIONS ?= newest lowest
KERNELS ?= native
SOURCE ?= .
FUZZ_SECONDS ?= 300

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip
QUIET := --quiet --disable-pip-version-check
# Python compiles what it imports; pip would compile all that it installs, on one processor.
INSTALL := $(PIP) install $(QUIET) --no-compile
EDITABLE = $(INSTALL) --no-build-isolation --editable . \
	--config-settings cmake.define.DURAMEN_KERNELS=$(KERNELS)
CPP := $(shell find cpp -name '*.cpp' -o -name '*.hpp' 2>/dev/null | sort)

# Stamps: what was installed, and when.
ENVIRONMENT := $(VENV)/.stamp-environment
BUILDERS := $(VENV)/.stamp-builders
TESTERS := $(VENV)/.stamp-testers
PACKAGE := $(VENV)/.stamp-package
LINTERS := $(VENV)/.stamp-linters
PACKERS := $(VENV)/.stamp-packers
BENCHERS := $(VENV)/.stamp-benchers
FUZZERS := $(VENV)/.stamp-fuzzers
WRITERS := $(VENV)/.stamp-writers

# Tests start some hundred processes, which would each compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup tools pinned pins kernel build both-kernels demo test test-slow test-all test-random docs screens test-lowest smoke lint style types layers cpp-style format \
	sanitize sanitize-threads faults fuzz dist wheel wheels bench clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(PACKAGE) ## virtual environment, dependencies, the package in editable mode, for this processor

# In one go, as each call of pip looks at all that is installed.
tools: $(BUILDERS) ## what .ci/run needs beside the package: to test, lint and pack
	$(INSTALL) --no-warn-conflicts --group test --group lint --group dist
	@touch $(TESTERS) $(LINTERS) $(PACKERS)

pinned: $(ENVIRONMENT) ## what make and .ci/run install, in the versions of .ci/pins.txt, with hashes
	$(INSTALL) --require-hashes --requirement .ci/pins.txt

pins: $(PACKERS) ## write .ci/pins.txt: the newest versions that pyproject.toml allows
	$(BIN)/uv pip compile pyproject.toml --quiet --upgrade --universal --python-version 3.11 \
		--all-extras --group build --group test --group lint --group dist --group docs --group browser \
		--generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
		--output-file .ci/pins.txt

# Beside `make tools`, of which it changes nothing; `make setup` finds it compiled.
kernel: $(BUILDERS) ## the package in editable mode without its dependencies; KERNELS=both for every processor
	$(EDITABLE) --no-deps

build: ## rebuild the kernel now, whatever the stamps say
	@rm -f $(PACKAGE)
	@$(MAKE) --no-print-directory setup

both-kernels: $(TESTERS) ## build the kernel for every processor and compare the results
	$(MAKE) --no-print-directory build KERNELS=both
	DURAMEN_BOTH_KERNELS=1 $(BIN)/python -m pytest -k "test_same or same_bits" \
		tests/kernel/test_builds.py tests/theory/population/test_lattice.py

demo: setup ## rank the genes of the bundled leukemia set; leaves tables and an HTML report
	$(BIN)/duramen rank --demo --out $(DEMO)
	@echo
	@echo "The report: $(abspath $(DEMO))/report.html"

test: $(TESTERS) setup ## the fast tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" $(ARGS)

test-slow: $(TESTERS) setup ## the slow tests only
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m slow $(ARGS)

test-all: $(TESTERS) setup ## the fast and the slow tests in one run, and which take longest
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations 25 --durations-min 5 $(ARGS)

test-random: $(TESTERS) setup ## the property tests with random examples, which `make test` draws alike in every run
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m hypothesis $(ARGS)

# All pages are written (-a): the index of the search takes its terms from those that are.
docs: $(TESTERS) $(WRITERS) setup ## the documentation site, in build/docs/html; its links, its search, its pages in a browser
	$(BIN)/python -m sphinx -q -W --keep-going -a -j auto -b html docs $(SITE)/html -d $(SITE)/trees
	$(BIN)/python tools/links.py $(SITE)/html
	DURAMEN_SITE=$(SITE)/html $(BIN)/python -m pytest -q tests/site

screens: setup ## write the screens of the home page and of docs/start: what their code prints
	$(BIN)/python tools/screens.py --write

# Warnings in old versions, that something else is deprecated, say nothing of the package.
OLD := -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -W ignore::FutureWarning \
	-W ignore::SyntaxWarning

test-lowest: $(PACKERS) ## the fast tests with the lowest versions that pyproject.toml allows
	UV=$(BIN)/uv tools/install $(LOWEST) $(PYTHON) lowest .
	$(LOWEST)/bin/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" -p no:cacheprovider \
		$(OLD) $(ARGS)

smoke: $(PACKERS) ## the wheels of dist/wheels under PYTHONS, with the newest and the lowest versions
	for python in $(PYTHONS); do \
		for versions in $(VERSIONS); do \
			UV=$(BIN)/uv OLD="$(OLD)" tools/smoke "$(WHEEL)" $$python $$versions || exit 1; \
		done; \
	done

lint: style types layers cpp-style ## all that reads the code without running it

style: $(LINTERS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(LINTERS) $(TESTERS) setup
	$(BIN)/mypy --num-workers $(WORKERS)

layers: $(LINTERS) setup
	$(BIN)/lint-imports

cpp-style: $(LINTERS)
	$(BIN)/clang-format --dry-run -Werror $(CPP)

format: $(LINTERS) ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

sanitize: $(TESTERS) setup ## the kernel's tests under the address and undefined-behavior sanitizers
	VENV=$(VENV) SOURCE=$(SOURCE) tools/sanitize $(ARGS)

sanitize-threads: $(TESTERS) setup ## growth, permutation and context on several threads, watched for races
	VENV=$(VENV) tools/sanitize threads

faults: $(TESTERS) setup ## 3,000 attempts to break the package, counted by outcome
	$(BIN)/python -m tests.faults $(ARGS)

fuzz: $(FUZZERS) setup ## inputs for readers of tables and stores, guided by coverage, FUZZ_SECONDS=300 each
	mkdir -p build/fuzz
	for target in files.fuzz_text files.fuzz_tables; do \
		$(BIN)/python -m tests.faults.fuzzing $$target -max_total_time=$(FUZZ_SECONDS) \
			-artifact_prefix=build/fuzz/$$target. || exit 1; \
	done

# Without --sdist and --wheel, the wheel is built from the source distribution, in an environment of
# its own with the build requirements of pyproject.toml, as `pip install` of the archive does.
dist: $(PACKERS) ## source distribution, and the wheel built from it, in dist/
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

# What `make kernel KERNELS=both` has compiled is packed, not compiled again.
wheel: $(BUILDERS) ## the wheel of this Python, in dist/
	$(PIP) wheel $(QUIET) --no-build-isolation --no-deps --config-settings build-dir=build/editable \
		--wheel-dir dist .

# With the Pythons of PYTHON311 and PYTHON312; what they need is installed beside them.
wheels: ## wheels of CPython 3.11 and of the stable ABI, in dist/wheels, checked by abi3audit
	rm -rf dist/wheels build/wheels
	$(PYTHON311) -m pip wheel $(QUIET) --no-deps --wheel-dir dist/wheels .
	$(PYTHON312) -m pip wheel $(QUIET) --no-deps --wheel-dir dist/wheels .
	$(PYTHON312) -m venv build/wheels
	build/wheels/bin/python -m pip install $(QUIET) abi3audit auditwheel
	build/wheels/bin/abi3audit --strict dist/wheels/*abi3*.whl
	for wheel in dist/wheels/*.whl; do build/wheels/bin/auditwheel show $$wheel; done

bench: $(BENCHERS) setup ## the fast cases against scikit-learn (benchmarks/README.md has the rest)
	$(BIN)/python -m benchmarks.speed.peers --quick $(ARGS)
	$(BIN)/python -m benchmarks.speed.bars
	$(BIN)/python -m benchmarks.speed.lattice
	$(BIN)/python -m benchmarks.speed.measures
	$(BIN)/python -m benchmarks.speed.significance
	$(BIN)/python -m benchmarks.speed.context

clean: ## everything that was built; the virtual environment too
	rm -rf $(VENV) $(LOWEST) build dist $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		.import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# pip 25.1 is the first that installs dependency groups.
$(ENVIRONMENT): tools/bootstrap
	tools/bootstrap $(VENV) $(PYTHON)
	$(INSTALL) --upgrade "pip>=25.1"
	@touch $@

$(BUILDERS): $(ENVIRONMENT) pyproject.toml
	$(INSTALL) --group build
	@touch $@

$(TESTERS): $(ENVIRONMENT) pyproject.toml
	$(INSTALL) --group test
	@touch $@

$(PACKAGE): $(BUILDERS) pyproject.toml CMakeLists.txt $(CPP)
	$(EDITABLE)
	@touch $@

$(LINTERS): $(ENVIRONMENT) pyproject.toml
	$(INSTALL) --group lint
	@touch $@

$(PACKERS): $(BUILDERS) pyproject.toml
	$(INSTALL) --group dist
	@touch $@

$(BENCHERS): $(ENVIRONMENT) pyproject.toml
	$(INSTALL) --group bench
	@touch $@

$(FUZZERS): $(ENVIRONMENT) pyproject.toml
	$(INSTALL) --group fuzz
	@touch $@

$(WRITERS): $(ENVIRONMENT) pyproject.toml
	$(INSTALL) --group docs --group browser
	@touch $@
