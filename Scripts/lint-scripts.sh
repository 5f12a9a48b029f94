#!/usr/bin/env bash
# Reads every shell and Python file without running it: a typo in a script that runs once a month is found today, and so
# is a line that is longer than 120 columns. With shellcheck installed the shell files are read by that too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folders=()
for folder in Scripts Benchmarks Tests clients examples .ci; do if [[ -d $folder ]]; then folders+=("$folder"); fi; done

mapfile -t shell < <(find "${folders[@]}" -name '*.sh' -o -path '.ci/run' | sort)
for file in "${shell[@]}"; do bash -n "$file"; done
if command -v shellcheck >/dev/null; then shellcheck --severity=warning "${shell[@]}"; fi

find "${folders[@]}" -name '*.py' | sort | python3 -c '
import ast, sys
for path in sys.stdin.read().split("\n"):
    if path:
        with open(path, encoding="utf-8") as file:
            ast.parse(file.read(), path)
'

find "${folders[@]}" Makefile -name '*.sh' -o -name '*.py' -o -path '.ci/run' -o -name Makefile | sort | python3 -c '
import sys
found = False
for path in sys.stdin.read().split("\n"):
    if path:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if len(line.rstrip("\n")) > 120:
                    found = True
                    print(f"{path}:{number}: {len(line) - 1} columns; at most 120", file=sys.stderr)
sys.exit(found)
'
