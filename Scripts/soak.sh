#!/usr/bin/env bash
# Repeats the whole test suite until the time is over. Property tests draw new seeds in every round (ROOST_SEEDS=drawn)
# and process tests meet new interleavings, so this finds what one run does not.
#
#   Scripts/soak.sh DURATION        90s, 30m, 24h
#
# Stops at the first round that fails and keeps its output in .build-soak. Exit: 0 no round failed, 1 one did, 2 usage.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! [[ ${1:-} =~ ^([1-9][0-9]*)([smh])$ ]]; then
  echo "usage: Scripts/soak.sh DURATION     as 90s, 30m or 24h" >&2
  exit 2
fi
declare -A unit=([s]=1 [m]=60 [h]=3600)
seconds=$((BASH_REMATCH[1] * ${unit[${BASH_REMATCH[2]}]}))

export ROOST_SEEDS=drawn
mkdir -p .build-soak
rounds=0
while ((SECONDS < seconds)); do
  rounds=$((rounds + 1))
  log=.build-soak/round.log
  if ! swift test --skip-build >"$log" 2>&1 </dev/null; then
    kept=.build-soak/failed-round-$rounds.log
    mv "$log" "$kept"
    grep -E '^✘|: error:' "$kept" | head -20
    echo "soak: round $rounds failed after $SECONDS s; its output is in $kept"
    exit 1
  fi
  printf 'soak: round %d passed, %d of %d s\n' "$rounds" "$SECONDS" "$seconds"
done
echo "soak: $rounds rounds, none failed"
