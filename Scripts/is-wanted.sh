#!/usr/bin/env bash
# Prints the name of a worker's program if a configuration file has a worker for it that is not switched off.
#
#   Scripts/is-wanted.sh push-relay supervisor.conf
#
# For programs that are large and that few people want: `make run` builds them only then. A file that cannot be read has
# none; roostd says more about it.
set -euo pipefail
[[ -r ${2-} ]] || exit 0
awk -v program="$1" '
  function tell() { if (isWorker && isOn && (name == program || role == program)) wanted = 1 }
  /^\[/ {
    tell(); isWorker = 0; isOn = 1; role = ""
    if ($0 ~ /^\[worker\.[a-z0-9-]+\]/) { isWorker = 1; name = $0; sub(/^\[worker\./, "", name); sub(/\].*/, "", name) }
  }
  /^role *=/ { role = $0; gsub(/^role *= *"|".*/, "", role) }
  /^enabled *= *false/ { isOn = 0 }
  END { tell(); if (wanted) print program }
' "$2"
