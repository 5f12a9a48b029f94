#!/usr/bin/env bash
# Boots a machine with Debian's kernel and systemd under qemu, and tries the package there.
#
#   Tests/Packages/boot.sh [STEP…]      every step unless some are named: the functions of boot-steps.sh
#                                       SUITE=bookworm unless given; also trixie
#
# The machine has no network: apt installs from the packages that were put into its disk. It starts twice. The first
# time it installs the package of a lower version and goes off; that disk is kept. The second time it starts from a copy
# of it, and does the steps. They print to the serial console. If steps are named, and the disk is newer than the
# packages, the first start is left out. Emulated by software, all of it takes about half an hour.
#
# It needs root, for the disk's files. What is kept is in .build-package/roots; remove it to get a newer system.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source Tests/Packages/shared.sh

suite=${SUITE:-bookworm}
need_root boot-test
Scripts/system-packages.sh mmdebstrap dpkg-dev qemu-system-x86 e2fsprogs
need_packages boot-test
scratch=$(mktemp -d "$out/boot.XXXXXX")
trap 'rm -rf --one-file-system "$scratch"' EXIT

base "boot-$suite" "$suite" \
  "systemd-sysv,dbus-user-session,libpam-systemd,linux-image-cloud-amd64,initramfs-tools,python3"

make_disk() {
  local root=$scratch/root
  mkdir "$root"
  tar -xf "$out/roots/boot-$suite.tar" -C "$root"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  repository "$root" $lower "$version"
  export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin
  chroot "$root" apt-get update -qq
  # What the package depends on waits in apt's cache.
  chroot "$root" apt-get install -y -qq --no-install-recommends --download-only roost >/dev/null
  rm "$root/etc/resolv.conf"
  cp "${EVENTS:-Tests/Peers/events.jsonl}" "$root/srv/events.jsonl"
  # The steps come by a second disk, and are a service of the machine on its serial console; after them it goes off.
  cat >"$root/etc/systemd/system/steps.service" <<'UNIT'
[Unit]
After=multi-user.target systemd-user-sessions.service dbus.service systemd-logind.service
[Service]
Type=exec
ExecStartPre=/bin/tar -xf /dev/vdb -C /srv
ExecStart=/bin/bash /srv/boot-steps.sh
ExecStopPost=/bin/systemctl poweroff --no-block
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
UNIT
  ln -s /dev/null "$root/etc/systemd/system/serial-getty@ttyS0.service"
  truncate -s 3G "$1"
  mkfs.ext4 -q -F -d "$root" "$1"
  rm -rf --one-file-system "$root"
}

start() { # DISK[,OPTION…] STEP…
  local disk=$1
  shift
  echo "$lower" "$version" "$@" >"$scratch/wanted"
  tar -cf "$scratch/steps.tar" -C "$PWD/Tests/Packages" shared.sh boot-steps.sh -C "$scratch" wanted
  timeout 3600 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -machine q35 -smp 2 -m 2G -nic none -no-reboot \
    -display none -monitor none -serial stdio -kernel "$scratch/boot/vmlinuz" -initrd "$scratch/boot/initrd.img" \
    -drive "file=$disk,if=virtio,format=raw,cache=unsafe" \
    -drive "file=$scratch/steps.tar,if=virtio,format=raw,readonly=on" -append \
    "root=/dev/vda rw console=ttyS0 quiet systemd.show_status=0 systemd.wants=steps.service" </dev/null |
    tr -d '\r' | tee "$scratch/console"
  grep -q '^all steps passed$' "$scratch/console"
}

mkdir "$scratch/boot"
tar -xf "$out/roots/boot-$suite.tar" -C "$scratch/boot" --strip-components=2 --wildcards './boot/*'
mv "$scratch"/boot/vmlinuz-* "$scratch/boot/vmlinuz"
mv "$scratch"/boot/initrd.img-* "$scratch/boot/initrd.img"
installed=$out/roots/boot-$suite.installed
if (($# == 0)) || [[ ! -e $installed || -n $(find "$out" -maxdepth 1 -name 'roost_*.deb' -newer "$installed") ]]; then
  rm -f "$installed"
  make_disk "$scratch/disk"
  echo "== $suite: a machine starts, without Roost"
  start "$scratch/disk" installation
  mv "$scratch/disk" "$installed"
fi
echo "== $suite: it starts again, with Roost"
start "$installed,snapshot=on" "$@"
