#!/usr/bin/env bash
# Builds and runs the fuzz entries of Tests/Fuzz.
#
#   Scripts/fuzz.sh [--seconds N] [ENTRY…]     N per entry, 600 without it; ENTRY as in FrameReaderFuzz, all without one
#
# An entry is one file. Its head says which folder of Tests/Fuzz/corpus holds its seeds ("// corpus: frames"); and, if
# need be, other files it is made of ("// with: Tests/…"), libraries ("// libraries: uv") and how long an input may get
# ("// longest: 1024", 8192 without it). Which targets it needs is read from the imports: those of a room, and those of
# packages that `swift build` has fetched. SwiftPM cannot build a libFuzzer program (it has no main), so the compiler is
# called here: each target a static library, instrumented, and then the entry on top. They are built for testing, so
# that an entry may look inside.
#
# What the fuzzer learns stays in .build-fuzz/corpus and is used again next time. Inputs that failed are kept in
# .build-fuzz/findings. Exit: 0 nothing found, 1 a finding, 2 usage, 70 an entry did not build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${FUZZ_SECONDS:-600}
entries=()
while (($#)); do
  case $1 in
    --seconds) seconds=${2:?"--seconds needs a number"}; shift 2 ;;
    -*) echo "usage: Scripts/fuzz.sh [--seconds N] [ENTRY…]" >&2; exit 2 ;;
    *) entries+=("$1"); shift ;;
  esac
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "fuzz: --seconds takes a whole number above 0, not '$seconds'" >&2; exit 2; }
if ((${#entries[@]} == 0)); then
  for file in Tests/Fuzz/*Fuzz.swift; do entries+=("$(basename "$file" .swift)"); done
fi

out=.build-fuzz
# The same language settings as Package.swift; optimised, because a fuzzer lives by runs per second, with checks kept.
flags=(-O -g -swift-version 6 "-sanitize=fuzzer,address" -parse-as-library
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault
  -enable-testing)
for map in Sources/C/*/module.modulemap; do flags+=(-I "${map%/*}"); done
# Swift's own crash handler starts a child that holds the terminal; libFuzzer prints the stack itself.
export SWIFT_BACKTRACE=enable=no

# Several lines of a kind are one.
head_line() { sed -n "s|^// $1: *||p" "Tests/Fuzz/$2.swift" | paste -sd ' '; }

# Fetched packages are compiled as their own Package.swift says; what is not ours is not instrumented.
package_flags=(-O -g -swift-version 5 -parse-as-library -enable-upcoming-feature MemberImportVisibility)
for feature in BuiltinModule Lifetimes InoutLifetimeDependence AddressableParameters AddressableTypes; do
  package_flags+=(-enable-experimental-feature "$feature")
done
for version in 5.0 5.1 5.6 5.7 5.8 5.9 5.10 6.0 6.1 6.2 6.3 6.4 6.5; do
  package_flags+=(-enable-experimental-feature "AvailabilityMacro=SwiftStdlib $version: macOS 10.15")
done

# Where a target's sources are; nothing for what comes with the toolchain, and for C, which is found by its map.
folder_of() {
  local folder
  folder=$(find Sources Workers -mindepth 2 -maxdepth 2 -name "$1" -type d -not -path "Sources/C/*" | head -1)
  [[ -n $folder ]] || folder=$(find .build/checkouts -path "*/Sources/$1" -type d 2>/dev/null | head -1)
  echo "$folder"
}

# needed PATH…: adds to `modules` the targets that Swift files import, and before each what it needs itself.
needed() {
  local name folder
  local import='s/^ *(@[^ ]+ )?((public|package|internal|private) )?import ([A-Za-z0-9_]+)$/\4/p'
  for name in $(find "$@" -name '*.swift' -exec sed -nE "$import" {} + | sort -u); do
    [[ " ${modules[*]} " != *" $name "* ]] || continue
    folder=$(folder_of "$name")
    [[ -n $folder && $folder != "$1" ]] || continue
    needed "$folder"
    [[ " ${modules[*]} " == *" $name "* ]] || modules+=("$name")
  done
}

# module NAME DIRECTORY: a static library and its interface in DIRECTORY.
module() {
  local name=$1 directory=$2 options=("${flags[@]}" -package-name roost) folder
  folder=$(folder_of "$name")
  [[ $folder != .build/* ]] || options=("${package_flags[@]}" -package-name "$(cut -d/ -f3 <<<"$folder")")
  local files
  mapfile -t files < <(find "$folder" -name '*.swift' | sort)
  swiftc "${options[@]}" -module-name "$name" -emit-module -emit-module-path "$directory/$name.swiftmodule" \
    -emit-library -static -o "$directory/lib$name.a" -I "$directory" "${files[@]}" 2>"$directory/$name.log" ||
    { cat "$directory/$name.log" >&2; return 1; }
}

build() {
  local entry=$1 directory="$out/$1" name libraries=(-lswiftSynchronization) files
  local -a modules=()
  mkdir -p "$directory"
  read -ra files <<<"$(head_line with "$entry")"
  needed "Tests/Fuzz/$entry.swift" "${files[@]}"
  for name in "${modules[@]}"; do
    module "$name" "$directory" || return
    libraries=("-l$name" "${libraries[@]}")
  done
  for name in $(head_line libraries "$entry"); do libraries+=("-l$name"); done
  swiftc "${flags[@]}" -package-name roost -module-name "$entry" -I "$directory" -L "$directory" "${libraries[@]}" \
    -o "$directory/$entry" "Tests/Fuzz/$entry.swift" "${files[@]}" 2>"$directory/link.log" ||
    { cat "$directory/link.log" >&2; return 1; }
}

found=0
for entry in "${entries[@]}"; do
  [[ -f Tests/Fuzz/$entry.swift ]] || { echo "fuzz: there is no Tests/Fuzz/$entry.swift" >&2; exit 2; }
  echo "fuzz: building $entry"
  build "$entry" || { echo "fuzz: $entry did not build" >&2; exit 70; }
  corpus=$(head_line corpus "$entry")
  longest=$(head_line longest "$entry")
  mkdir -p "$out/corpus/$corpus" "$out/findings"
  echo "fuzz: $entry for $seconds s"
  status=0
  "$out/$entry/$entry" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len="${longest:-8192}" \
    -print_final_stats=1 \
    -artifact_prefix="$out/findings/$entry-" "$out/corpus/$corpus" "Tests/Fuzz/corpus/$corpus" \
    >"$out/$entry.log" 2>&1 </dev/null || status=$?
  if ((status)); then
    found=1
    tail -40 "$out/$entry.log"
    echo "fuzz: $entry FOUND something; the input is in $out/findings, the log in $out/$entry.log"
  else
    grep -E '^stat::(number_of_executed_units|average_exec_per_sec)' "$out/$entry.log" | sed "s|^stat::|fuzz: $entry |"
    echo "fuzz: $entry found nothing"
  fi
done
exit "$found"
