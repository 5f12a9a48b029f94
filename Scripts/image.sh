#!/usr/bin/env bash
# Makes a container image of the package that `make package` built: .build-package/roost-VERSION-oci-ARCH.tar
#
#   sudo Scripts/image.sh      as root, for chroot
#
# The root is Debian 12 with the package and what it depends on, from Debian's archive and from nowhere else. In it
# roostd runs as the user roost, keeps everything in /var/lib/roost, which is a volume, and `roost doctor` says whether
# it is well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ((EUID)); then
  echo "roost: the image's root is made in a chroot, which needs root. Type:  sudo make image" >&2
  exit 77
fi
Scripts/system-packages.sh mmdebstrap dpkg-dev
version=$(sed -n 's/.*static let text = "\([^"]*\)".*/\1/p' Sources/Bus/Contracts/RoostVersion.swift)
architecture=$(dpkg --print-architecture)
out=$PWD/.build-package
package=$out/roost_${version}_$architecture.deb
if [[ ! -e $package ]]; then
  echo "roost: there is no $package. Type:  make package" >&2
  exit 66
fi

export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
scratch=$(mktemp -d "$out/image.XXXXXX")
trap 'rm -rf --one-file-system "$scratch"' EXIT
mkdir "$scratch/packages"
cp "$package" "$scratch/packages/"
(cd "$scratch/packages" && dpkg-scanpackages . >Packages 2>/dev/null)

# What a container has no use for: units' manager, pages, caches, logs, and what differs from one build to the next.
mmdebstrap --quiet --format=tar --variant=apt \
  --include=roost,systemd-standalone-sysusers,systemd-standalone-tmpfiles \
  --aptopt='APT::Install-Recommends "false"' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --customize-hook="chroot \"\$1\" sh -c 'echo \$(id -u roost):\$(id -g roost)' >$scratch/user" \
  --customize-hook='rm -rf "$1"/etc/apt/sources.list.d/* "$1"/var/log/*.log "$1"/var/log/apt "$1"/var/cache/debconf/*-old' \
  --customize-hook='echo "deb http://deb.debian.org/debian bookworm main" >"$1/etc/apt/sources.list"' \
  bookworm "$scratch/root.tar" \
  'deb http://deb.debian.org/debian bookworm main' 'deb http://deb.debian.org/debian bookworm-updates main' \
  'deb http://deb.debian.org/debian-security bookworm-security main' "deb [trusted=yes] copy://$scratch/packages ./"

image=$out/roost-$version-oci-$architecture.tar
python3 Scripts/image.py --root "$scratch/root.tar" --version "$version" --user "$(cat "$scratch/user")" \
  --output "$image.new"
mv "$image.new" "$image"
echo "$image: $(($(stat -c %s "$image") >> 20)) MiB"
