#!/usr/bin/env bash
# `make bench`: allreduce beside raw MPI, and training beside PyTorch, each pair in one run. Wants idle cores.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --check --with-integration || {
  echo "bench: the comparison needs PyTorch: scripts/setup.sh --with-integration" >&2
  exit 3
}
build/release/bin/ringward bench allreduce -np 2
# Debian's own python3, the one that has Debian's torch.
/usr/bin/python3 bench/train_vs_pytorch.py build/release/bin/ringward
