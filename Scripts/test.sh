#!/usr/bin/env bash
# Runs every test that was built: first those of machines and codecs, which use all processors, then those with real
# processes. These mostly wait, so several suites run beside each other, each in a process of its own. What a suite
# says is printed when it fails. At the end: the slowest suites, and how many tests ran. The exit code is 0 if all
# that are listed ran and passed.
#
#   Scripts/test.sh [BUILD_DIRECTORY]     ROOST_SUITES=4: how many suites of processes run beside each other
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:-.build/debug}
runner=$build/roostPackageTests.xctest
[[ -x $runner ]] || {
  echo "$runner is not there: 'make build' builds it" >&2
  exit 1
}
beside=${ROOST_SUITES:-$((2 * $(nproc)))}

results=$(mktemp -d)
cleanup() {
  trap - EXIT INT TERM
  # shellcheck disable=SC2046
  kill $(jobs -p) 2>/dev/null || true
  rm -rf "$results"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

run() { "$runner" --testing-library swift-testing "$@"; }
# How many tests a run says that it ran; a filter that finds nothing counts as none.
count() { grep -oE 'Test run with [0-9]+ tests?' "$1" | tail -1 | tr -dc 0-9; }

# Writes what a suite says and how it ended. Usage: suite NAME ARGUMENTS…
suite() {
  local name=$1 began=$SECONDS status=passed
  shift
  run "$@" >"$results/$name.log" 2>&1 || status=failed
  [[ $(count "$results/$name.log") ]] || status=failed
  echo "$((SECONDS - began)) $name $(count "$results/$name.log" || true) $status" >"$results/$name.end"
  if [[ $status == failed ]]; then
    cat "$results/$name.log"
    echo "$name failed, after $((SECONDS - began)) s"
  fi
}

started=$SECONDS
run --list-tests >"$results/list"
suite machines --skip '^ProcessTests\.'
machines=$((SECONDS - started))

# Suites with many tests first, so that the last to end is a short one.
mapfile -t suites < <(sed -nE 's#^ProcessTests\.((ProcessTests/)?[A-Za-z0-9]+)/.*#\1#p' "$results/list" |
  sort | uniq -c | sort -k1,1nr -k2 | awk '{ print $2 }')
for name in "${suites[@]}"; do
  while (($(jobs -rp | wc -l) >= beside)); do wait -n || true; done
  suite "${name##*/}" --filter "^ProcessTests\.$name/" &
done
wait

sort -k1,1nr "$results"/*.end | awk 'NR <= 12 { printf "%5d s  %s, %d tests\n", $1, $2, $3 }'
ran=$(awk '{ sum += $3 } END { print sum }' "$results"/*.end)
listed=$(grep -c . "$results/list")
failed=$(awk '$NF == "failed" { print $2 }' "$results"/*.end | paste -sd' ')
echo "$ran of $listed tests ran: machines $machines s, processes $((SECONDS - started - machines)) s"
[[ -z $failed ]] || {
  echo "failed: $failed" >&2
  exit 1
}
((ran == listed)) || {
  echo "the suites ran $ran tests, and $listed are listed" >&2
  exit 1
}
