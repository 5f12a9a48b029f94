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
source Tests/Packages/shared.sh

need_root package-test
Scripts/system-packages.sh mmdebstrap dpkg-dev iproute2
need_packages package-test
scratch=$(mktemp -d "$out/try.XXXXXX")
trap 'rm -rf --one-file-system "$scratch"' EXIT

try() {
  root=$scratch/$1
  mkdir "$root"
  tar -xf "$out/roots/$1.tar" -C "$root"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp Tests/Packages/shared.sh Tests/Packages/steps.sh Tests/Peers/events.jsonl "$root/srv/"
  repository "$root" $lower
  echo "== $1: apt-get install roost, $lower"
  export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin
  chroot "$root" apt-get update -qq
  local begin=$EPOCHREALTIME
  if ! chroot "$root" apt-get install -y -qq --no-install-recommends roost >"$scratch/log" 2>&1; then
    cat "$scratch/log"
    return 1
  fi
  # A process id of its own for everything in it, so that nothing is left when it ends; no network but its own.
  repository "$root" $lower "$version"
  unshare --net --pid --fork --mount --kill-child bash -c '
    ip link set lo up
    mount -t proc proc "$1/proc"
    exec chroot "$1" bash /srv/steps.sh "$2" "$3" "$4"' - "$root" "$lower" "$version" "$begin"
}

for suite in "${@:-bookworm}"; do
  base "$suite" "$suite"
  try "$suite"
  rm -rf --one-file-system "${scratch:?}/$suite"
done
