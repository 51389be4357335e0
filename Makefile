# The front door. Every target works from a fresh clone; `make help` lists them.
# PREFIX (default /usr/local) and DESTDIR are for `make install`.
PREFIX ?= /usr/local
DESTDIR ?=

.DEFAULT_GOAL := build
.PHONY: build quickstart check acceptance bench fuzz asan tsan format format-check tidy install clean help setup

build:  ## build the release preset: build/release/bin/ringward
	@scripts/build.sh release programs

setup:  ## install the Debian packages that are missing
	@scripts/setup.sh

quickstart: setup build  ## train, score, evaluate and explain on a made-up sensor table
	@scripts/quickstart.sh

check: setup  ## build and run every test that needs no server
	@scripts/check.sh

asan tsan:  ## build and run the tests under a sanitizer
	@scripts/build.sh $@
	@scripts/run_tests.sh $@

fuzz:  ## run every fuzzer for SECONDS_EACH (default 20) seconds
	@scripts/fuzz.sh $(or $(SECONDS_EACH),20)

bench: build  ## benchmarks against raw MPI and PyTorch (needs setup.sh --with-integration)
	@scripts/bench.sh

acceptance:  ## every promise of docs/status.md, long runs included; fills docs/performance.md
	@scripts/setup.sh --with-integration
	@scripts/acceptance.sh

format:  ## clang-format all C++ files in place
	@scripts/format.sh --in-place

format-check:  ## say which C++ files are not formatted
	@scripts/format.sh --check

tidy:  ## clang-tidy over all C++ files
	@scripts/tidy.sh

install: build  ## install under PREFIX
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

clean:  ## remove everything that was built
	rm -rf build quickstart

help:  ## this list
	@awk -F ':.*## ' '/^[a-z -]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
