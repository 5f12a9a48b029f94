#!/usr/bin/env bash
# Tries the Debian package where nothing of Roost has ever been: in fresh roots of distributions.
#
#   Tests/Packages/run.sh [SUITE…]      bookworm unless given; also trixie and noble
#
# For each suite: apt installs the package of a lower version from a repository on this machine, and what it depends on
# from the distribution's archive. From then on there is no network. steps.sh does the rest, in the root, and names
# each step. The first step that fails ends it all, with what the step printed.
#
# It needs root, for chroot. Base systems are kept in .build-package/roots; remove them to get newer ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=$PWD/.build-package
if ((EUID)); then
  echo "roost: chroot needs root. Type:  sudo make package-test" >&2
  exit 77
fi
Scripts/system-packages.sh mmdebstrap dpkg-dev iproute2
version=$(sed -n 's/.*static let text = "\([^"]*\)".*/\1/p' Sources/Bus/Contracts/RoostVersion.swift)
lower=0.1.99
for wanted in "$version" $lower; do
  if ! ls "$out/roost_${wanted}"_*.deb >/dev/null 2>&1; then
    echo "roost: there is no package of version $wanted in .build-package. Type:  make package package-test" >&2
    exit 66
  fi
done
scratch=$(mktemp -d "$out/try.XXXXXX")
trap 'rm -rf --one-file-system "$scratch"' EXIT

# Makes the base system of a suite, once.
base() {
  local tar=$out/roots/$1.tar source="deb http://deb.debian.org/debian $1 main"
  # Debian has no package with Ubuntu's keys, and what comes from there is only tried here.
  if [[ $1 == noble ]]; then source="deb [trusted=yes] http://archive.ubuntu.com/ubuntu $1 main universe"; fi
  if [[ ! -e $tar ]]; then
    mkdir -p "$out/roots"
    mmdebstrap --quiet --format=tar --variant=apt --include=passwd,procps "$1" "$tar.new" "$source"
    mv "$tar.new" "$tar"
  fi
}

repository() { # of the packages of these versions, in the root
  local wanted
  mkdir -p "$root/srv/roost"
  for wanted in "$@"; do cp "$out/roost_${wanted}"_*.deb "$root/srv/roost/"; done
  (cd "$root/srv/roost" && dpkg-scanpackages --multiversion . >Packages 2>/dev/null)
  echo 'deb [trusted=yes] file:/srv/roost ./' >"$root/etc/apt/sources.list.d/roost.list"
}

try() {
  root=$scratch/$1
  mkdir "$root"
  tar -xf "$out/roots/$1.tar" -C "$root"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp Tests/Packages/steps.sh Tests/Peers/events.jsonl "$root/srv/"
  repository $lower
  echo "== $1: apt-get install roost, $lower"
  export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin
  chroot "$root" apt-get update -qq
  local begin=$EPOCHREALTIME
  if ! chroot "$root" apt-get install -y -qq --no-install-recommends roost >"$scratch/log" 2>&1; then
    cat "$scratch/log"
    return 1
  fi
  # A process id of its own for everything in it, so that nothing is left when it ends; no network but its own.
  repository $lower "$version"
  unshare --net --pid --fork --mount --kill-child bash -c '
    ip link set lo up
    mount -t proc proc "$1/proc"
    exec chroot "$1" bash /srv/steps.sh "$2" "$3" "$4"' - "$root" "$lower" "$version" "$begin"
}

for suite in "${@:-bookworm}"; do
  base "$suite"
  try "$suite"
  rm -rf --one-file-system "${scratch:?}/$suite"
done
