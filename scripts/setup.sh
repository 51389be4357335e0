#!/usr/bin/env bash
# Installs the Debian 12 packages that Ringward needs, and only those that are missing.
#
#   scripts/setup.sh                     what building and `make check` need
#   scripts/setup.sh --with-lint         also clang-format and clang-tidy (make format, make tidy)
#   scripts/setup.sh --with-integration  also what integration tests, benchmarks and fuzzers need
#   scripts/setup.sh --check             installs nothing; exit 1 when something is missing
#
# Works as root and, where something is missing, through sudo. Exit: 0 fine, 1 missing (--check),
# 2 bad usage, 3 could not install.
set -euo pipefail

build_packages=(
  g++ cmake ninja-build ccache pkg-config python3
  libopenmpi-dev openmpi-bin libgloo-dev
  libtomlplusplus-dev libspdlog-dev nlohmann-json3-dev
  libsqlite3-dev libzstd-dev zlib1g-dev
  libboost-dev libprotozero-dev libcpp-httplib-dev libssl-dev openssl
  libgtest-dev libgmock-dev
)
lint_packages=(clang-format-14 clang-tidy-14)
# torch: the side of bench/train_vs_pytorch.py that we are compared with; openblas: the yardstick of `ringward bench
# train`; libtorch: what tests/torch holds the dense engine's gradients against; chromium: draws report.html; zsh: reads
# its completion script; nodejs, npm: bundle the watcher's page and run its tests; prometheus: scrapes the watcher, and promtool checks what it
# says; its alertmanager hears the watcher's alerts; mpi4py: runs the tutorial's MPI script;
# faketime: sets the clock of a watcher, and of nobody else.
integration_packages=(
  python3-numpy python3-torch libtorch-dev libopenblas0-pthread clang-19 libclang-rt-19-dev chromium fonts-dejavu-core zsh
  prometheus prometheus-alertmanager nodejs npm python3-mpi4py faketime
)

# Tests point these two elsewhere.
os_release=${RINGWARD_SETUP_OS_RELEASE:-/etc/os-release}
policy_file=${RINGWARD_SETUP_POLICY_FILE:-/usr/sbin/policy-rc.d}
readonly policy_mark="# written by ringward's scripts/setup.sh; removed when it ends"

say() { printf 'setup: %s\n' "$*"; }
die() {
  printf 'setup: %s\n' "$2" >&2
  exit "$1"
}

require_debian_12() {
  local found="an unknown system"
  if [[ -r $os_release ]]; then
    found=$(. "$os_release" && printf '%s %s' "${ID:-unknown}" "${VERSION_ID:-}")
  fi
  [[ $found == "debian 12" ]] && return
  die 3 "needs Debian 12, this is ${found% }; elsewhere install the equivalents of: ${packages[*]}"
}

# Prints those of its arguments that dpkg does not have installed, one a line.
missing_of() {
  local name
  for name in "$@"; do
    # A nodejs from elsewhere brings its npm along, and cannot be there beside Debian's.
    [[ $name == npm ]] && command -v npm >/dev/null && continue
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || echo "$name"
  done
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo -- "$@"
  fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -qq \
    -o DPkg::Lock::Timeout=580 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@" </dev/null >>"$log" 2>&1 &&
    return
  tail -n 20 "$log" >&2
  die 3 "apt-get failed, its last lines are above"
}

# A policy-rc.d that answers 101 keeps freshly installed servers from being started. An existing
# one belongs to somebody else (container images bring it) and stays as it is.
block_services() {
  if [[ -e $policy_file ]] && ! grep -qF "$policy_mark" "$policy_file"; then
    return
  fi
  printf '#!/bin/sh\n%s\nexit 101\n' "$policy_mark" | as_root tee "$policy_file" >/dev/null
  as_root chmod 755 "$policy_file"
}

cleanup() {
  local status=$?
  if [[ -e $policy_file ]] && grep -qF "$policy_mark" "$policy_file"; then
    as_root rm -f "$policy_file"
  fi
  rm -f "$log"
  exit "$status"
}

install_packages() {
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    die 3 "not root and no sudo: run as root: apt-get install --no-install-recommends $*"
  fi
  log=$(mktemp)
  trap cleanup EXIT
  trap 'exit 130' INT TERM HUP
  local started=$SECONDS
  say "installing $# missing packages: $*"
  block_services
  apt_get update
  apt_get install --no-install-recommends "$@"
  say "installed $# packages in $((SECONDS - started)) s"
}

main() {
  local check=false argument
  packages=("${build_packages[@]}")
  for argument in "$@"; do
    case $argument in
      --with-lint) packages+=("${lint_packages[@]}") ;;
      --with-integration) packages+=("${integration_packages[@]}") ;;
      --check) check=true ;;
      -h | --help)
        sed -n '2,/^set /{s/^# \{0,1\}//p}' "$0"
        exit 0
        ;;
      *) die 2 "unknown argument '$argument' (see --help)" ;;
    esac
  done
  require_debian_12
  local missing
  mapfile -t missing < <(missing_of "${packages[@]}")
  if ((${#missing[@]} == 0)); then
    say "all ${#packages[@]} packages are there"
  elif $check; then
    say "missing: ${missing[*]}"
    exit 1
  else
    install_packages "${missing[@]}"
  fi
}

main "$@"
