#!/usr/bin/env bash
# Installs Roost for one user or, with another PREFIX, for all.
#
#   Scripts/install.sh [--dry-run] PREFIX PROGRAM…      --dry-run: say where all would be, build and write nothing
#                                                       DESTDIR is put before every path, as packagers expect
#
#   PREFIX/lib/roost/           the programs side by side: roostd starts its workers from its own folder
#   PREFIX/bin/                 links to roostd and roost, the two that a person types
#   PREFIX/share/roost/         supervisor.conf as shipped
#   PREFIX/lib/systemd/user/    the unit; below the home directory PREFIX/share/systemd/user, as systemd has it
#   ~/.config/roost/            supervisor.conf, only if there is none yet
#
# The programs carry Swift's runtime inside them, so they run where no toolchain is. Nothing is started.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dry_run=
if [[ ${1:-} == --dry-run ]]; then
  dry_run=1
  shift
fi
if (($# < 2)) || [[ $1 != /* ]]; then
  echo "usage: Scripts/install.sh [--dry-run] PREFIX PROGRAM…     PREFIX begins with /" >&2
  exit 2
fi
prefix=${1%/}
shift
root=${DESTDIR:-}
settings=${XDG_CONFIG_HOME:-$HOME/.config}/roost/supervisor.conf
units=$prefix/lib/systemd/user
if [[ $prefix == "$HOME"/* ]]; then units=$prefix/share/systemd/user; fi
settings_note="yours, kept; as shipped: $prefix/share/roost/supervisor.conf"
if [[ ! -e $settings ]]; then settings_note=new; fi

install_programs() {
  local program
  for program in "$@"; do
    swift build -c release --static-swift-stdlib --scratch-path .build-install --product "$program"
  done
  install -d "$root$prefix/lib/roost" "$root$prefix/bin"
  for program in "$@"; do
    install --strip "$(readlink -f .build-install/release)/$program" "$root$prefix/lib/roost/"
  done
  for program in roostd roost; do ln -sfn "../lib/roost/$program" "$root$prefix/bin/$program"; done
}

install_files() {
  install -d "$root$prefix/share/roost" "$root$units"
  install -m 644 supervisor.conf docs/operations.md docs/supervision.md docs/debugging.md "$root$prefix/share/roost/"
  sed "s|@PREFIX@|$prefix|g" packaging/roost.service >"$root$units/roost.service"
  chmod 644 "$root$units/roost.service"
  if [[ -z $root && ! -e $settings ]]; then
    install -d -m 700 "${settings%/*}"
    install -m 600 supervisor.conf "$settings"
  fi
}

# Whether systemd looks for units of users there by itself.
is_unit_directory() {
  case $1 in
    "${XDG_DATA_HOME:-$HOME/.local/share}/systemd/user") ;;
    /usr/lib/systemd/user | /usr/share/systemd/user | /usr/local/lib/systemd/user | /usr/local/share/systemd/user) ;;
    *) return 1 ;;
  esac
}

tell() {
  local roost=$prefix/bin/roost unit=roost
  if [[ -n $root ]]; then
    echo "Staged under $root for $prefix. Each user's settings are copied from $prefix/share/roost/supervisor.conf."
    return
  fi
  if [[ :$PATH: == *":$prefix/bin:"* ]]; then roost=roost; fi
  # A unit that lies elsewhere is enabled by its path: systemctl then links it, and finds it at every login.
  if ! is_unit_directory "$units"; then unit=$units/roost.service; fi
  cat <<END
Installed:
  programs  $prefix/bin/roostd, $prefix/bin/roost
  settings  $settings ($settings_note)
  unit      $units/roost.service
To start it now and at every login:
  systemctl --user daemon-reload && systemctl --user enable --now $unit
Or in this terminal, without systemd:
  ${roost}d --config $settings
Then:
  $roost status
END
}

if [[ -z $dry_run ]]; then
  install_programs "$@"
  install_files
fi
tell
