#!/usr/bin/env bash
# Makes the Python environments with the foreign programs that tests and benchmarks are held against.
#
#   Scripts/python-environment.sh [ENVIRONMENT…]       all of them without one
#
# .venv               what Tests/python/requirements.txt and Benchmarks/requirements.txt pin
# .venv-nostr-relay   nostr-relay, alone, because it wants an older websockets than the rest
# .venv-nostr-dvm     nostr-dvm, alone, because it is installed without most of what it asks for
# .venv-schemathesis  schemathesis, alone, because of all that it brings
# .venv-mcp           mcp, alone, for the same reason
# .venv-site          what makes docs/ into a site, and the pictures in it
#
# What is named for them stands in the .in files; the .txt files beside them are made of those and pin all that comes
# with it, by hash: pip takes no other file.
#
# An environment that already holds what the files pin is left alone, in a few milliseconds. A test that needs one and
# does not find it says "skipped: …"; nothing here is needed to build or to run Roost.
#
# Exit: 0 ready, 75 not now (no network, no python3-venv), with one line saying so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

requirements_of() {
  case $1 in
    .venv) echo Tests/python/requirements.txt Benchmarks/requirements.txt ;;
    .venv-nostr-relay) echo Tests/python/requirements-nostr-relay.txt ;;
    .venv-nostr-dvm) echo Tests/python/requirements-nostr-dvm.txt ;;
    .venv-schemathesis) echo Tests/python/requirements-schemathesis.txt ;;
    .venv-mcp) echo Tests/python/requirements-mcp.txt ;;
    .venv-site) echo Tests/python/requirements-site.txt ;;
    *)
      echo "usage: Scripts/python-environment.sh [.venv] [.venv-nostr-relay] [.venv-nostr-dvm] [.venv-schemathesis]" \
        "[.venv-mcp] [.venv-site]" >&2
      exit 2
      ;;
  esac
}

# How pip is told beside the files: a file cannot say that what it names is all there is.
options_of() {
  case $1 in .venv-nostr-dvm) echo --no-deps ;; esac
}

not_now() {
  echo "roost: no $1: $2; the tests and benchmarks that need it are skipped" >&2
  exit 75
}

make_environment() {
  local environment=$1 files log
  files=$(requirements_of "$environment")
  # The stamp is what was installed, written last: an environment that was cut off half-way has none.
  # shellcheck disable=SC2086 # a list of files
  cat $files | cmp -s - "$environment/installed.txt" && return
  echo "roost: making $environment" >&2
  log=$(mktemp)
  rm -rf "$environment"
  python3 -m venv "$environment" >"$log" 2>&1 || {
    rm -rf "$environment" "$log"
    not_now "$environment" "python3 cannot make it (python3-venv missing?)"
  }
  # shellcheck disable=SC2046,SC2086
  "$environment/bin/python3" -m pip install --disable-pip-version-check --quiet --retries 1 --timeout 20 \
    --require-hashes $(options_of "$environment") $(printf -- '-r %s ' $files) >"$log" 2>&1 </dev/null || {
    local reason
    reason=$(grep -m1 -E '^ERROR' "$log" | cut -c1-160 || true)
    rm -rf "$environment" "$log"
    not_now "$environment" "pip failed (${reason:-no network?})"
  }
  rm -f "$log"
  # shellcheck disable=SC2086
  cat $files >"$environment/installed.txt"
}

if (($# == 0)); then set -- .venv .venv-nostr-relay .venv-nostr-dvm .venv-schemathesis .venv-mcp .venv-site; fi
for environment in "$@"; do make_environment "$environment"; done
