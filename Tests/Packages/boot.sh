#!/usr/bin/env bash
# Boots a Debian 12 with systemd in qemu and tries the package's units in it: boot.sh, after `make package`
#
# The machine has no network. It has what the package depends on, and the packages of two versions; boot-steps.sh does
# the rest in it. Without the processor's help (KVM) it takes some minutes. The base system is kept in
# .build-package/roots.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=$PWD/.build-package
if ((EUID)); then
  echo "roost: a file system is made, which needs root. Type:  sudo make package-test" >&2
  exit 77
fi
Scripts/system-packages.sh mmdebstrap dpkg-dev e2fsprogs qemu-system-x86 seabios
version=$(sed -n 's/.*static let text = "\([^"]*\)".*/\1/p' Sources/Bus/Contracts/RoostVersion.swift)
lower=0.1.99
base=$out/roots/boot.tar
if [[ ! -e $base ]]; then
  mkdir -p "$out/roots"
  depends=$(dpkg-deb --field "$out/roost_${version}_amd64.deb" Depends | tr ',' '\n' |
    sed 's/libcurl4t64 | //; s/ *[(|].*//; s/^ *//' | sort -u | tr '\n' ',')
  mmdebstrap --quiet --format=tar --variant=apt \
    --include="systemd-sysv,dbus-user-session,libpam-systemd,linux-image-cloud-amd64,passwd,procps,$depends" \
    bookworm "$base.new" http://deb.debian.org/debian
  mv "$base.new" "$base"
fi

scratch=$(mktemp -d "$out/boot.XXXXXX")
trap 'rm -rf --one-file-system "$scratch"' EXIT
root=$scratch/root
mkdir "$root"
tar -xf "$base" -C "$root"
cp "$out/roost_${version}"_*.deb "$out/roost_${lower}"_*.deb Tests/Packages/boot-steps.sh Tests/Peers/events.jsonl \
  "$root/srv/"
cat >"$root/etc/systemd/system/try.service" <<END
[Unit]
Wants=systemd-logind.service
After=basic.target systemd-logind.service dbus.service
[Service]
Type=oneshot
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
ExecStart=/bin/bash /srv/boot-steps.sh $lower $version
ExecStopPost=/bin/systemctl poweroff --no-block
[Install]
WantedBy=multi-user.target
END
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../try.service "$root/etc/systemd/system/multi-user.target.wants/"
cp "$root"/boot/vmlinuz-* "$scratch/kernel"
cp "$root"/boot/initrd.img-* "$scratch/initrd"
truncate -s 3G "$scratch/disk"
mkfs.ext4 -q -F -d "$root" "$scratch/disk"

timeout 1200 qemu-system-x86_64 -accel tcg -cpu max -m 2048 -smp 2 -display none -serial stdio -no-reboot -net none \
  -kernel "$scratch/kernel" -initrd "$scratch/initrd" \
  -append "root=/dev/vda rw console=ttyS0 quiet systemd.show_status=0" \
  -drive "file=$scratch/disk,if=virtio,format=raw,cache=unsafe" </dev/null | tee "$scratch/log"
grep -aq 'all steps passed' "$scratch/log"
