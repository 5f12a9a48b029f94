#!/usr/bin/env bash
# Builds the documentation of every library from the modules a debug build left, with warnings as errors: a link to a
# symbol that is gone stops here. No plugin and no second build: the symbol graph is read out of the compiled module.
#
#   Scripts/documentation.sh        the pages land in .build-docs/<Module>.doccarchive
#
# Exit: 0 done, 1 a page has a warning, 69 there is no debug build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=.build/debug
out=.build-docs
[[ -d $build/Modules ]] || { echo "documentation: no debug build; run 'make build' first" >&2; exit 69; }

architecture=$(uname -m)
maps=()
# C modules: our own, those of packages, which SwiftPM writes beside their objects, and the
# system libraries of packages.
for map in Sources/C/*/module.modulemap "$build"/*.build/module.modulemap \
  .build/checkouts/*/Sources/GRDBSQLite/module.modulemap \
  .build/checkouts/*/Sources/_AtomicsShims/include/module.modulemap; do
  if [[ -f $map ]]; then maps+=(-Xcc "-fmodule-map-file=$PWD/$map"); fi
done
# Libraries only: nobody imports a program, so a program has no public symbols. What is for tests has no pages.
mapfile -t modules < <(tr '\n' ' ' <Package.swift | grep -oE '\blibrary\( *"[A-Za-z]+"' | cut -d'"' -f2 |
  grep -vE '^TestSupport$')

failed=0
for module in "${modules[@]}"; do
  rm -rf "${out:?}/$module" "$out/$module.doccarchive"
  mkdir -p "$out/$module"
  swift symbolgraph-extract -module-name "$module" -I "$build/Modules" -target "$architecture-unknown-linux-gnu" \
    "${maps[@]}" -minimum-access-level public -skip-synthesized-members -output-dir "$out/$module"
  # A catalogue is used if the target has one.
  catalogue=$(find Sources Workers -mindepth 3 -maxdepth 3 -path "*/$module/*.docc" | head -1)
  # docc draws each finding over several lines; only its own word for success is dropped.
  timeout 120 docc convert ${catalogue:+"$catalogue"} --additional-symbol-graph-dir "$out/$module" \
    --fallback-display-name "$module" --fallback-bundle-identifier "roost.$module" \
    --output-path "$out/$module.doccarchive" --warnings-as-errors >"$out/$module.log" 2>&1 || {
    cat "$out/$module.log" >&2
    failed=1
  }
done
((failed)) || echo "documentation: ${#modules[@]} modules, no warnings"
exit "$failed"
