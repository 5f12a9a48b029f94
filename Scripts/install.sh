#!/usr/bin/env bash
# Installs Roost for one user or, with another PREFIX, for all.
#
#   Scripts/install.sh [--dry-run] PREFIX PROGRAM…      --dry-run: say where all would be, build and write nothing
#                                                       DESTDIR is put before every path, as packagers expect
#   Scripts/install.sh --remove PREFIX                  removes what was installed; settings and data stay
#
#   PREFIX/lib/roost/           the programs side by side, as roostd starts its workers from its own folder, and
#                               Swift's runtime once beside them; `installed` names all files, for --remove
#   PREFIX/bin/                 links to roostd and roost, the two that a person types
#   PREFIX/share/roost/         supervisor.conf as shipped
#   PREFIX/share/…              manual pages; completions for bash, zsh and fish
#   PREFIX/lib/systemd/user/    the unit; below the home directory PREFIX/share/systemd/user, as systemd has it
#   ~/.config/roost/            supervisor.conf, only if there is none yet
#
# The programs run where no toolchain is. Nothing is started.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dry_run=
remove=
case ${1:-} in
  --dry-run) dry_run=1 && shift ;;
  --remove) remove=1 && shift ;;
esac
if (($# < 2 - ${remove:-0})) || [[ $1 != /* ]]; then
  echo "usage: Scripts/install.sh [--dry-run] PREFIX PROGRAM…, or --remove PREFIX     PREFIX begins with /" >&2
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

# What a package would install, but for this prefix. Files that are in use are replaced, not written to.
install_programs() {
  local stage=.build-release/install list=$root$prefix/lib/roost/installed
  Scripts/release.sh $stage "$@"
  install -d "${list%/*}"
  (cd $stage/usr && find bin lib/roost share/man share/*completion* share/zsh share/fish ! -type d -print0 |
    tar --create --null --files-from=- --owner=0 --group=0) |
    tar --extract --verbose --show-transformed-names --no-same-owner --unlink-first --directory="$root$prefix" \
      --transform='s|zsh/vendor-completions|zsh/site-functions|' >"$list"
  echo lib/roost/installed >>"$list"
}

remove_files() {
  local list=$root$prefix/lib/roost/installed
  if [[ ! -e $list ]]; then
    echo "roost: there is no $list, so nothing was removed. Is the prefix right?" >&2
    exit 66
  fi
  (cd "$root$prefix" && tr '\n' '\0' <"$list" | xargs -0 rm -f)
  rm -f "$root$units/roost.service" "$root$prefix"/share/roost/{supervisor.conf,{operations,supervision,debugging}.md}
  rmdir --ignore-fail-on-non-empty "$root$prefix"/{lib,share}/roost
  echo "Removed from $root$prefix. Settings and data are left: ${settings%/*} and ~/.local/state/roost."
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

if [[ -n $remove ]]; then
  remove_files
  exit
fi
if [[ -z $dry_run ]]; then
  install_programs "$@"
  install_files
fi
tell
