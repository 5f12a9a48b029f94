#!/usr/bin/env bash
# Runs every test that was built: first those of machines and codecs, which use all processors, then those with real
# processes, which mostly wait, in two parts beside each other. A part is printed when it has ended. The exit code is 0
# if all passed. Usage: Scripts/test.sh [BUILD_DIRECTORY]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:-.build/debug}
runner=$build/roostPackageTests.xctest
[[ -x $runner ]] || {
  echo "$runner is not there: 'make build' builds it" >&2
  exit 1
}

# The suites of some rooms, as a pattern of their names in test identifiers.
suites() {
  local rooms=()
  for room in "$@"; do rooms+=("Tests/ProcessTests/$room"); done
  grep -rhoE '^(  )?struct [A-Za-z]+Tests\b' "${rooms[@]}" --include='*.swift' |
    awk '{print $2}' | sort -u | paste -sd'|'
}
first=$(suites Push LocalRelay EventStore Signer)

results=$(mktemp -d)
pids=()
names=()
summary=()
failed=0
cleanup() {
  trap - EXIT INT TERM
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  rm -rf "$results"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

part() {
  local name=$1
  shift
  "$runner" --testing-library swift-testing "$@" >"$results/$name" 2>&1 &
  pids+=($!)
  names+=("$name")
}
# Waits for the parts that run.
finish() {
  for index in "${!pids[@]}"; do
    local name=${names[$index]} status=passed count
    wait "${pids[$index]}" || status=failed
    # A filter that finds nothing must not count as a success.
    count=$(grep -oE 'Test run with [0-9]+ tests?' "$results/$name" | tail -1 | tr -dc 0-9)
    [[ ${count:-0} -gt 0 ]] || status=failed
    cat "$results/$name"
    summary+=("$name: ${count:-0} tests $status, $((SECONDS - started)) s since the start")
    [[ $status == passed ]] || failed=1
  done
  pids=()
  names=()
}

started=$SECONDS
part machines --skip '^ProcessTests\.'
finish
part processes-1 --filter "^ProcessTests\.ProcessTests/($first)/"
part processes-2 --filter '^ProcessTests\.' --skip "^ProcessTests\.ProcessTests/($first)/"
finish
printf '%s\n' "${summary[@]}"
exit "$failed"
