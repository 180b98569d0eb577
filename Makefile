# treemill's commands. Each sets up what it needs: a virtual environment in .venv with the pinned
# packages of requirements/, and the Rust core built in release mode.
#   make demo    write a dataset, run a query over it on all cores, draw it
#   make test    the tests of Rust and Python that carry weight, in 12 minutes on two cores (SLOW=1: all of them,
#                which an issue needs before it is resolved)
#   make test-core    the tests of the Python package that need no servers and no cluster
#   make test-oldest  the tests of clusters with the oldest versions of Dask that are supported
#   make test-newest  test-core with the newest versions that there are
#   make soak    random tests with fresh seeds, for SOAK_MINUTES=10
#   make flaky   each test program and test file FLAKY_TIMES=20 times, alone and under load: tests that
#                fail by chance (FLAKY="http tests/remote": only those with such names)
#   make stress  each fault of clusters STRESS=20 times; many readers, files and long lists of servers
#   make lint    formatters, clippy, ruff, mypy
#   make docs    the documentation's site in target/docs/html, its tutorials executed
#   make compare every branch of the corpus, beside uproot and ROOT
#   make bench   treemill beside its rivals, with tables in bench/results/ (BENCH=adl: only the tasks
#                of the analysis description benchmark)
#   make bench-types  every kind of branch beside uproot, and the metadata of 1,800 branches
#   make bench-facility  treemill's own benchmark of this machine, on threads, processes and Dask, with the docs' pictures
#   make bench-quick  the same in about a minute, as in CI; nothing is published
#   make bench-cluster  sessions on Dask workers beside coffea and distributed RDataFrame
#   make bench-io  remote reading over an emulated link beside its rivals (root; half an hour)
#   make fuzz    every fuzz target for some seconds (FUZZ_SECONDS=5 FUZZ="header basket"): fuzz/README.md
#   make wheels  the sdist and the wheels that this machine can build, looked through and tried with
#                TRY="python3.11 python3.14": docs/release.md
#   make release-check  all of a release that needs no account of a registry: docs/release.md
#   make changelog  what changes/ has for CHANGELOG.md; VERSION=0.2.0 writes it there
#   make lock    choose new versions for requirements/*.txt and Cargo.lock
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
RUST_SOURCES := Cargo.toml Cargo.lock .cargo/config.toml $(shell find crates -name '*.rs' -o -name Cargo.toml)
UV_COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --upgrade pyproject.toml

# Processes that find no bytecode of our modules, and may write none, compile them anew at each start.
unexport PYTHONDONTWRITEBYTECODE

# Tests start threads and processes of their own: few at once, however many cores there are. On two cores three of them have
# something to do while others wait for servers and clusters.
TEST_PROCESSES ?= 3
SOAK_MINUTES ?= 10

.PHONY: compare demo docs test test-packages test-programs test-rust test-python test-core test-oldest test-newest servers soak flaky stress lint bench bench-types bench-facility bench-quick bench-cluster bench-io fuzz build wheels conda release-check changelog lock clean
.DEFAULT_GOAL := build

# `python3 -m venv` is a package of its own on Debian, and a C compiler may be missing in a container.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "treemill needs Python >= 3.11: make PYTHON=python3.12" >&2; exit 1; }
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! { \
		$(PYTHON) -c 'import venv, ensurepip' && command -v cc; } >/dev/null 2>&1; then \
		apt-get update -qq && apt-get install -qq -y --no-install-recommends python3-venv build-essential; fi
	@command -v cargo >/dev/null || { echo "treemill needs a Rust toolchain (cargo)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.packages: requirements/dev.txt | $(BIN)/python
	$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@

# Real ROOT has wheels for some platforms only; the tests that need it skip without it.
$(VENV)/.oracle: requirements/oracle.txt $(VENV)/.packages
	$(PIP) --require-hashes --only-binary :all: -r requirements/oracle.txt \
		|| echo "no wheel of ROOT for this platform: its tests will be skipped"
	@touch $@

# Remote reading's rivals, and XRootD's own client for `xrootd+root://`.
$(VENV)/.remote: requirements/remote.txt $(VENV)/.packages
	$(PIP) --require-hashes --only-binary :all: -r requirements/remote.txt \
		|| echo "no wheel of xrootd for this platform: its tests are skipped, measurements go without it"
	@touch $@

# What drives a browser, for the tests of the dashboard; the browser itself is Debian's chromium.
$(VENV)/.browser: requirements/browser.txt $(VENV)/.packages
	$(PIP) --require-hashes --only-binary :all: -r requirements/browser.txt \
		|| echo "no wheel of playwright for this platform: the tests of the dashboard's page will be skipped"
	@touch $@

# The S3 server for tests, in an environment of its own: pyproject.toml says why.
$(VENV)/servers/.packages: requirements/servers.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/servers
	$(VENV)/servers/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		-r requirements/servers.txt || echo "no S3 server: its tests will be skipped"
	@touch $@

# The newest versions that pyproject.toml allows, in a folder that a test puts before the others.
$(VENV)/newest/.packages: pyproject.toml $(VENV)/.packages
	$(PIP) uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --target $(@D) --upgrade -r pyproject.toml \
		--extra arrow --extra hdf5 --extra plot
	@touch $@

# The oldest versions of Dask that clusters may have, in a folder that a test puts before the others.
$(VENV)/oldest/.packages: requirements/oldest.txt $(VENV)/.packages
	$(PIP) --no-deps --require-hashes --upgrade --target $(VENV)/oldest -r requirements/oldest.txt
	@touch $@

# What builds releases, in an environment of its own.
$(VENV)/release/.packages: requirements/release.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/release
	$(VENV)/release/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		-r requirements/release.txt
	@touch $@

# Servers for the tests of remote reading and of clusters, which skip without them, and say so.
SERVERS := nginx-light xrootd-server xrootd-server-plugins xrootd-plugins xrootd-client iproute2 dcap \
	nfs-ganesha nfs-ganesha-vfs tshark slurmctld slurmd slurm-client munge chromium
servers:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! { \
		command -v xrootd && command -v cmsd && command -v xrdcp && command -v ip && command -v ganesha.nfsd \
		&& command -v dccp && command -v tshark \
		&& PATH=$$PATH:/usr/sbin command -v nginx && PATH=$$PATH:/usr/sbin command -v slurmd \
		&& command -v sbatch && command -v chromium; } >/dev/null 2>&1; then \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
			--no-install-recommends $(SERVERS) >/dev/null; } \
		|| echo "no servers from Debian's packages: their tests will be skipped"; fi

$(VENV)/.core: $(RUST_SOURCES) pyproject.toml $(VENV)/.packages
	PATH=$(CURDIR)/$(BIN):$$PATH MATURIN_PEP517_ARGS=--locked env -u MAKEFLAGS -u MFLAGS \
		$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

build: $(VENV)/.core

demo: build
	$(BIN)/python -m treemill demo

# Cargo has as many jobs as there are cores, also if make has several.
CARGO_TEST := env -u MAKEFLAGS -u MFLAGS cargo test --workspace --exclude treemill-py --locked --quiet
test: test-packages test-programs
	$(BIN)/python -m tools.run_tests

test-programs: | $(BIN)/python
	$(CARGO_TEST) --no-run

test-packages: build $(VENV)/.oracle $(VENV)/.remote $(VENV)/.browser $(VENV)/servers/.packages $(VENV)/oldest/.packages servers

test-rust: $(VENV)/servers/.packages servers
	$(CARGO_TEST) --no-fail-fast

# A process that a test ends by a crash is not replaced: pytest-xdist would run the test again and again, or wait for ever.
test-python: test-packages
	$(BIN)/python -m pytest $(if $(SLOW),,-m "not slow") --numprocesses $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder --max-worker-restart 0

soak: build
	$(BIN)/python -m tools.soak --minutes $(SOAK_MINUTES)

FLAKY_TIMES ?= 20
flaky: test-packages test-programs
	$(BIN)/python -m tools.flaky --times $(FLAKY_TIMES) $(FLAKY)

CORE_TESTS := $(BIN)/python -m pytest $(if $(SLOW),,-m "not slow") --numprocesses $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder \
	--max-worker-restart 0 tests/python
test-core: build
	$(CORE_TESTS)

test-newest: build $(VENV)/newest/.packages
	PYTHONPATH=$(VENV)/newest $(CORE_TESTS)

# The tests of clusters with the oldest versions of Dask.
test-oldest: build $(VENV)/oldest/.packages
	PYTHONPATH=$(VENV)/oldest $(BIN)/python -m pytest $(if $(SLOW),,-m "not slow") tests/cluster/test_sessions.py \
		tests/cluster/test_facilities.py tests/cluster/test_faults.py tests/cluster/test_retiring.py \
		tests/cluster/test_kept_on_clusters.py

STRESS ?= 20
stress: build
	STRESS=$(STRESS) $(BIN)/python -m pytest -q tests/cluster/test_faults.py tests/cluster/test_kept_on_clusters.py \
		tests/cluster/test_retiring.py tests/cluster/test_many_hosts.py tests/cluster/test_storms.py \
		tests/cluster/test_sites.py tests/cluster/test_many_processes.py
	$(BIN)/python -m pytest -q tests/remote/test_stability.py tests/remote/test_storages.py

lint: $(VENV)/.packages build
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest --concise treemill._core

SITE := target/docs
docs: build
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --jobs 2 \
		--doctree-dir $(SITE)/doctrees docs $(SITE)/html
	$(BIN)/python -m tools.check_site $(SITE)/html

compare: build $(VENV)/.oracle
	$(BIN)/python -m tools.compare_readers ../shared/corpus --oracle root

bench: build $(VENV)/.oracle
	cargo build --release --locked --quiet --package treemill-read --examples
	$(BIN)/python -m bench $(BENCH)
	$(if $(BENCH),,$(BIN)/python -m bench adl)

bench-types: build $(VENV)/.oracle
	cargo build --release --locked --quiet --package treemill-read --examples
	$(BIN)/python -m bench types $(BENCH)
	$(BIN)/python -W ignore -m bench metadata

# Results and report are published in bench/results, pictures in docs/images.
bench-facility: build
	$(BIN)/python -W ignore -m bench facility $(BENCH)

# What a facility's operator tries first: below two minutes on two cores. Systems are named, so that it fails without Dask.
QUICK := target/quick
QUICK_ON := threads processes dask
bench-quick: build
	mkdir -p $(QUICK)
	timeout 120 $(BIN)/python -W ignore -m treemill bench run --quick $(QUICK_ON:%=--on %) --folder $(QUICK)/data -o $(QUICK)/runs.json
	$(BIN)/python -m treemill bench report $(QUICK)/runs.json

bench-cluster: build $(VENV)/.oracle
	$(BIN)/python -W ignore -m bench cluster $(BENCH)

bench-io: build servers $(VENV)/.oracle $(VENV)/.remote
	cargo build --release --locked --quiet --package treemill-remote --package treemill-read --examples
	$(BIN)/python -m bench io $(BENCH)

FUZZ ?= header streamer tree basket open zlib old_deflate lzma lz4 zstd rntuple file http nfs xrootd dcap models
FUZZ_SECONDS ?= 5
# Sanitizers are for nightly compilers; a stable one fuzzes without.
FUZZ_RUN = $(shell rustup run nightly rustc -V >/dev/null 2>&1 && echo cargo +nightly fuzz run || echo cargo fuzz run --sanitizer none)
fuzz: $(VENV)/.packages
	@cargo fuzz --version >/dev/null 2>&1 || { echo "make fuzz needs cargo-fuzz: cargo install cargo-fuzz --locked" >&2; exit 1; }
	mkdir -p $(FUZZ:%=fuzz/corpus/%)
	$(BIN)/python fuzz/seeds.py fuzz/corpus $(wildcard ../shared/corpus/*.root)
	set -e; for target in $(FUZZ); do \
		ASAN_OPTIONS=detect_odr_violation=0 $(FUZZ_RUN) $$target -- \
			-max_total_time=$(FUZZ_SECONDS) -max_len=1000000 -malloc_limit_mb=256 -rss_limit_mb=2048 -timeout=20 -verbosity=0 -print_final_stats=1; done

TRY ?= $(PYTHON)
wheels: $(VENV)/release/.packages
	$(VENV)/release/bin/python -m tools.release $(WHEELS) $(TRY:%=--try %)

# The recipe of conda-forge, without its channels: docs/release.md says what that leaves unchecked.
conda: $(VENV)/release/.packages
	$(VENV)/release/bin/python -m tools.release --only-sdist
	$(VENV)/release/bin/python packaging/conda/build.py

release-check: $(VENV)/release/.packages
	$(BIN)/python -m tools.release.ready
	$(MAKE) lint docs
	$(MAKE) wheels
	$(VENV)/release/bin/python packaging/conda/build.py --only-render

# The changes of changes/ as a section of CHANGELOG.md: printed, or with VERSION=… written.
changelog: $(VENV)/release/.packages
	$(VENV)/release/bin/towncrier build $(if $(VERSION),--yes --version $(VERSION),--draft --version next)

lock: | $(BIN)/python
	$(PIP) uv
	$(UV_COMPILE) --extra arrow --extra cluster --extra hdf5 --extra kernels --extra onnx --extra plot --group dev --output-file requirements/dev.txt
	$(UV_COMPILE) --prerelease if-necessary-or-explicit --constraint requirements/dev.txt --group oracle \
		--output-file requirements/oracle.txt
	$(UV_COMPILE) --constraint requirements/dev.txt --group remote --output-file requirements/remote.txt
	$(UV_COMPILE) --constraint requirements/dev.txt --group browser --output-file requirements/browser.txt
	$(subst pyproject.toml,,$(UV_COMPILE)) --group servers --output-file requirements/servers.txt
	$(subst pyproject.toml,,$(UV_COMPILE)) --constraint requirements/dev.txt --group gateway \
		--output-file requirements/gateway.txt
	$(subst pyproject.toml,,$(UV_COMPILE)) --group release --output-file requirements/release.txt
	cargo update

clean:
	rm -rf $(VENV) target
