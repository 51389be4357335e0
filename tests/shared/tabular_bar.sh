#!/usr/bin/env bash
# Accuracy of the defaults on twelve labelled sets, no label given to training (protocol: tabular_bar.py of DATA).
#
#   tests/shared/tabular_bar.sh BINARY DATA
#
# Holds when the means over sets reach AUROC 0.928 and AUPRC 0.738.
set -euo pipefail
binary=$1 data=$2
# Not `tee /dev/stderr`: where that is a file, it would be opened anew and lose what stands in it.
/usr/bin/python3 "$data/tabular_bar.py" "$binary" | tee >(cat >&2) | awk '
  /^mean of/ { sub(":", "", $4); auroc = $6; auprc = $8; sets = $3 }
  END {
    holds = sets == 12 && auroc >= 0.928 && auprc >= 0.738
    printf "tabular: mean AUROC %s (0.928 wanted), AUPRC %s (0.738 wanted): %s\n", auroc, auprc, holds ? "holds" : "DOES NOT HOLD"
    exit !holds
  }'
