# Every target works from a fresh clone: the virtual environment is made on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo browser test check lint types fix bench bench-full guests proto soak faults \
	fuzz-guests fuzz-modules fuzz-events fuzz-validator test-idle clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{sub(/:.*/, "", $$1); printf "  make %-15s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

setup: $(STAMP) ## Make the virtual environment with everything in it

demo: $(STAMP) ## Run the multi-tenant masking and filtering job on sample events
	$(BIN)/wasm-host demo

# The HTML report is tested in a real browser, which PyPI does not have; without one those tests are skipped.
browser:
	@command -v chromium >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium >/dev/null 2>&1; } \
	|| echo "no Chromium here: the tests that look at the HTML report in a browser are skipped"

test: $(STAMP) browser ## Run the tests
	$(BIN)/python -m pytest -q

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

check: lint types test ## Everything that CI runs

fix: $(STAMP) ## Format and repair what can be repaired by machine
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP) ## Measure, side by side, in a short form
	$(BIN)/python -m benchmarks

bench-full: $(STAMP) ## The same, as long as each needs
	$(BIN)/python -m benchmarks --full

guests: $(STAMP) ## Build the example guests whose toolchains are here
	$(BIN)/python -m guest_examples.build

proto: $(STAMP) ## Regenerate the protobuf code
	$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. abi/event.proto
	$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. abi/formats/opencdc.proto

fuzz-guests: $(STAMP) ## Compare a million generated events with the native twins, for each guest
	GUEST_FUZZ_EVENTS=1000000 $(BIN)/python -m pytest -q tests/guests/test_equals_native.py

fuzz-modules: $(STAMP) ## Load and run a hundred thousand mutated and random modules
	$(BIN)/python -m tests.fuzz.modules --count 100000

fuzz-validator: $(STAMP) ## Compare the output validator with protobuf on millions of inputs
	WASM_HOST_VALIDATOR_INPUTS=4000000 $(BIN)/python -m pytest -q tests/property/test_validator_matches_protobuf.py

fuzz-events: $(STAMP) ## Send a hundred thousand hostile events through every guest and format
	$(BIN)/python -m tests.fuzz.events --count 100000

soak: $(STAMP) ## Send a hundred million events through guests and watch the memory
	$(BIN)/python -m benchmarks.soak --events 100000000

faults: $(STAMP) ## Kill workers and drivers again and again, in the long form
	WASM_HOST_LONG_FAULTS=1 $(BIN)/python -m pytest -q tests/faults

test-idle: $(STAMP) ## Workers that sit idle for over a minute reload from the code cache
	WASM_HOST_SLOW_TESTS=1 $(BIN)/python -m pytest -q tests/integration/test_workers.py -k minute

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
