# The two commands of a fresh machine are `make demo` and `make test`; the rest serves development. See CONTRIBUTING.md.
JOBS ?= $(shell nproc)
SCENE ?= scenes/cables/catenary-bridge.yaml
RESULTS ?= results/$(basename $(notdir $(SCENE)))
SOURCES = find $(wildcard bench include oracles python/src src tests) -name '*.h' -print0 -o -name '*.cpp' -print0

# Another checkout of the same sources finds what this one compiled.
export CCACHE_BASEDIR = $(CURDIR)
export CCACHE_NOHASHDIR = 1

.PHONY: help demo program test quick build python bench gallery docs sanitize format check-format tidy install-test packages clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

demo: program ## build the program, run one scene of the gallery, say where the results are
	build/release/bin/tendril run $(SCENE) -o $(RESULTS)
	@echo "Results: $(RESULTS)/summary.json, $(RESULTS)/results.h5. The scene is $(SCENE): edit it, or run another with make demo SCENE=..."

test: build python ## build and run all tests
	ctest --test-dir build/release -j $(JOBS) --output-on-failure --no-tests=error --output-junit $(CURDIR)/build/release/tests.xml

quick: build ## build and run the quick tests
	ctest --test-dir build/release -j $(JOBS) --output-on-failure --no-tests=error -L quick

program: packages ## install missing packages, configure, build the program without its tests
	cmake --preset release
	cmake --build build/release -j $(JOBS) --target tendril_app

build: packages ## the same with tests and benchmarks
	cmake --preset release
	cmake --build build/release -j $(JOBS)

python: program ## build the Python module into build/release/python, with an environment for it in build/python-env
	scripts/python-env.sh build/python-env
	cmake --preset release -DTENDRIL_BUILD_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/build/python-env/bin/python
	cmake --build build/release -j $(JOBS) --target tendril_python_stub

bench: build ## run the benchmarks
	build/release/bin/tendril_bench --benchmark_counters_tabular=true $(BENCH_ARGS)
	$(if $(BENCH_ARGS),,build/release/bin/tendril_friction_profile --data tests/data/fc3d --svg build/release/friction-profile.svg \
		--table build/release/friction_results.md)

gallery: build ## run and draw all scenes, write docs/gallery
	build/release/bin/tendril gallery --build docs/gallery

docs: python ## the documentation as a site, with the reference of the library and every link within it checked: build/docs/html
	@scripts/install-debian.sh docs
	PYTHONPATH=build/release/python build/python-env/bin/python scripts/reference_pages.py build/release/bin/tendril docs/reference
	mkdir -p build/docs/html
	doxygen docs/Doxyfile
	sphinx-build -q -W --keep-going -j $(JOBS) -c docs -d build/docs/doctrees . build/docs/html
	@echo "The site: build/docs/html/index.html"

sanitize: packages ## quick tests under the address and undefined-behaviour sanitizers, workspaces filled with NaN
	cmake --preset sanitize
	cmake --build build/sanitize -j $(JOBS)
	ctest --test-dir build/sanitize -j $(JOBS) --output-on-failure --no-tests=error -L quick --output-junit $(CURDIR)/build/sanitize/tests.xml

format: packages ## format all sources
	$(SOURCES) | xargs -0 -r -n 16 -P $(JOBS) clang-format -i

check-format: packages ## fail if a source is not formatted
	$(SOURCES) | xargs -0 -r -n 16 -P $(JOBS) clang-format --dry-run -Werror

tidy: packages ## clang-tidy over src/, those files first that differ from the main branch
	cmake --preset release -B build/tidy -DTENDRIL_BUILD_TESTS=OFF -DTENDRIL_BUILD_BENCH=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
	scripts/tidy.py build/tidy --jobs $(JOBS) $(TIDY_ARGS)

install-test: build ## install to an empty prefix and build a user's project against it
	ctest --test-dir build/release -R '^install\.' --output-on-failure --no-tests=error

packages:
	@scripts/install-debian.sh

clean: ## remove all build folders
	rm -rf build
