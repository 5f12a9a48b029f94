#!/usr/bin/env bash
# Installs Roost for one user or, with another PREFIX, for all.
#
#   Scripts/install.sh PREFIX PROGRAM…        DESTDIR is put before every path, as packagers expect
#
#   PREFIX/lib/roost/           the programs side by side: roostd starts its workers from its own folder
#   PREFIX/bin/                 links to roostd and roost, the two that a person types
#   PREFIX/share/roost/         supervisor.conf as shipped
#   PREFIX/lib/systemd/user/    the unit; for ~/.local this is PREFIX/share/systemd/user, where systemd looks
#   ~/.config/roost/            supervisor.conf, only if there is none yet
#
# The programs carry Swift's runtime inside them, so they run where no toolchain is. Nothing is started.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# < 2)) || [[ $1 != /* ]]; then
  echo "usage: Scripts/install.sh PREFIX PROGRAM…     PREFIX begins with /" >&2
  exit 2
fi
prefix=${1%/}
shift
root=${DESTDIR:-}
configuration=${XDG_CONFIG_HOME:-$HOME/.config}/roost
units=$prefix/lib/systemd/user
if [[ $prefix == "$HOME"/* ]]; then units=$prefix/share/systemd/user; fi

for program in "$@"; do
  swift build -c release --static-swift-stdlib --scratch-path .build-install --product "$program"
done

install -d "$root$prefix/lib/roost" "$root$prefix/bin" "$root$prefix/share/roost" "$root$units"
for program in "$@"; do install --strip "$(readlink -f .build-install/release)/$program" "$root$prefix/lib/roost/"; done
for program in roostd roost; do ln -sfn "../lib/roost/$program" "$root$prefix/bin/$program"; done
install -m 644 supervisor.conf docs/operations.md "$root$prefix/share/roost/"
sed "s|@PREFIX@|$prefix|g" packaging/roost.service >"$root$units/roost.service"
chmod 644 "$root$units/roost.service"
if [[ -z $root && ! -e $configuration/supervisor.conf ]]; then
  install -d -m 700 "$configuration"
  install -m 600 supervisor.conf "$configuration/"
fi

echo "Installed under $root$prefix. To start it now and at every login:"
echo "  systemctl --user daemon-reload && systemctl --user enable --now roost"
