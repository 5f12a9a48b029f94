#!/usr/bin/env bash
# Makes sure that what the build needs from the system is there, before a compiler says it in a thousand lines.
#
#   Scripts/system-packages.sh [--check] [PACKAGE…]     --check: say what is missing, install nothing
#                                                       PACKAGE: another Debian package that must be there
#
# Which C libraries are needed stands in Package.swift (`.apt([…])`) and nowhere else. A library counts as present when
# its Debian package is installed or when its headers compile, so one built by hand is accepted too. What is missing is
# installed by apt-get if we are root or sudo asks no password: after a question where somebody can answer it, and
# without one with CI set or away from a terminal. Nothing that is installed is removed for it. With nothing missing
# this takes a fraction of a second.
#
# Exit: 0 all there, 69 something is missing, or was not to be installed, and the one command to type was printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

swift_minimum=6.2
missing=()
check=
if [[ ${1:-} == --check ]]; then
  check=1
  shift
fi

installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# The libraries: one line of Package.swift gives a module and its Debian package.
while read -r module package; do
  installed "$package" && continue
  command -v cc >/dev/null && cc -fsyntax-only -x c "Sources/C/$module/shim.h" 2>/dev/null && continue
  missing+=("$package")
done < <(sed -n 's/.*systemLibrary(name: "\([^"]*\)".*\.apt(\["\([^"]*\)".*/\1 \2/p' Package.swift)

# libcurl is loaded when it is needed, and only the flavour with OpenSSL has this name; the headers may be another's.
[[ -n $(find /usr/lib /usr/local/lib -maxdepth 2 -name libcurl.so.4 -print -quit 2>/dev/null) ]] ||
  [[ " ${missing[*]} " == *" libcurl4-openssl-dev "* ]] || missing+=(libcurl4-openssl-dev)

# The tools: SwiftPM asks pkg-config where the libraries are; cc builds the yardsticks; tests speak Python, and make
# certificates with openssl.
command -v pkg-config >/dev/null || missing+=(pkg-config)
command -v cc >/dev/null || missing+=(gcc)
command -v python3 >/dev/null || missing+=(python3)
command -v openssl >/dev/null || missing+=(openssl)

for package in "$@"; do
  installed "$package" || missing+=("$package")
done

if ((${#missing[@]})); then
  command="apt-get install -y --no-remove ${missing[*]}"
  sudo=()
  ((EUID == 0)) || sudo=(sudo -n)
  leave() {
    echo "roost: missing: ${missing[*]}. Type:  sudo apt-get update && sudo $command" >&2
    exit 69
  }
  if [[ -n $check ]] || ! command -v apt-get >/dev/null || ! "${sudo[@]}" true 2>/dev/null; then leave; fi
  if [[ -z ${CI:-} && -t 0 && -t 2 ]]; then
    echo "roost: missing: ${missing[*]}" >&2
    read -r -p "Install them from this system's package archives, by '$command'? [y/N] " answer || answer=
    [[ $answer == [yY] || $answer == [yY][eE][sS] ]] || leave
  fi
  echo "roost: installing ${missing[*]}" >&2
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  if ! { "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive $command -qq --no-install-recommends
  } </dev/null >"$log" 2>&1; then
    tail -5 "$log" >&2
    echo "roost: apt-get failed (above). Type:  sudo apt-get update && sudo $command" >&2
    exit 69
  fi
fi

if ! command -v swift >/dev/null; then
  echo "roost: there is no 'swift' in PATH. Install Swift $swift_minimum or later:" \
    "https://www.swift.org/install/linux" >&2
  exit 69
fi
version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -1)
if [[ $(printf '%s\n' "$swift_minimum" "${version:-0}" | sort -V | head -1) != "$swift_minimum" ]]; then
  echo "roost: swift is ${version:-of unknown version}; version $swift_minimum or later is needed." >&2
  exit 69
fi
