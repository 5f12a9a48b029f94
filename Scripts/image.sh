#!/usr/bin/env bash
# Makes a container image of the Debian package, for podman and docker (docs/install.md).
#
#   Scripts/image.sh [--version VERSION]      VERSION: another version than that of the programs, to test an upgrade
#
#   It makes .build-package/roost-VERSION-ARCH.oci.tar, an OCI archive, and ends with its path, size and digest.
#
# The root is Debian 12 without apt: what is essential, the package and what that depends on, all from apt's mirror. The
# image has two configurations: supervisor.conf listens inside the container alone; published.conf is for a published
# port, so it listens everywhere, with TLS, and each client must authenticate.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(sed -n 's/.*static let text = "\([^"]*\)".*/\1/p' Sources/Bus/Contracts/RoostVersion.swift)
if [[ ${1-} == --version ]]; then version=$2; fi
out=$PWD/.build-package
architecture=$(dpkg --print-architecture)
package=$out/roost_${version}_$architecture.deb
if [[ ! -e $package ]]; then
  echo "roost: there is no $package. Type:  make package image" >&2
  exit 66
fi
if ((EUID)); then
  echo "roost: the image's root belongs to root. Type:  sudo make image" >&2
  exit 77
fi
Scripts/system-packages.sh mmdebstrap dpkg-dev umoci
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
scratch=$(mktemp -d "$out/image.XXXXXX")
trap 'rm -rf --one-file-system "$scratch"' EXIT

# The user has the same number in every image: files in a volume belong to it.
mkdir "$scratch/repository"
cp "$package" "$scratch/repository/"
(cd "$scratch/repository" && dpkg-scanpackages . >Packages 2>/dev/null)
cat >"$scratch/first" <<'END'
#!/bin/sh
set -e
mkdir -p "$1/etc/sysusers.d"
echo 'u roost 4869 "Roost, a Nostr daemon" /var/lib/roost' >"$1/etc/sysusers.d/roost.conf"
END
cat >"$scratch/last" <<'END'
#!/bin/sh
set -e
cd "$1"
rm -rf run/* etc/apt/sources.list etc/resolv.conf var/log/*.log var/log/apt var/cache/debconf/*-old
install -d -o 4869 -g 4869 -m 700 run/roost var/lib/roost
sed -i 's|^log-directory = .*|log-directory = "none"|' etc/roost/supervisor.conf
sed -e 's|^#listen = \["127.0.0.1:4869".*|listen = ["0.0.0.0:4869"]|' \
  -e '/^\[worker.local-relay\]/,/^\[/ {
    s|^#certificate-file = .*|certificate-file = "tls/certificate.pem"|; s|^#key-file = .*|key-file = "tls/key.pem"|
  }' etc/roost/supervisor.conf >etc/roost/published.conf
install -d etc/roost/tls
test "$(diff etc/roost/supervisor.conf etc/roost/published.conf | grep -c '^>')" = 3
grep -q '^log-directory = "none"' etc/roost/supervisor.conf
END
chmod +x "$scratch/first" "$scratch/last"
mirror=http://deb.debian.org
# Without the skip, /run would lose Roost's directory.
if ! mmdebstrap --quiet --variant=essential --format=tar --skip=cleanup/run \
  --include=roost,systemd-standalone-sysusers,systemd-standalone-tmpfiles \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount \
  --essential-hook="$scratch/first" --customize-hook="$scratch/last" bookworm "$scratch/root.tar" \
  "deb $mirror/debian bookworm main" "deb $mirror/debian bookworm-updates main" \
  "deb $mirror/debian-security bookworm-security main" "deb [trusted=yes] file:$scratch/repository ./" \
  >"$scratch/log" 2>&1; then
  tail -20 "$scratch/log" >&2
  exit 70
fi

layout=$scratch/layout
created=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
umoci init --layout "$layout"
umoci new --image "$layout:roost"
umoci raw add-layer --image "$layout:roost" --history.created "$created" --history.created_by mmdebstrap \
  "$scratch/root.tar" >/dev/null
umoci config --image "$layout:roost" --no-history --created "$created" --architecture "$architecture" --os linux \
  --config.user roost --config.workingdir /var/lib/roost --config.volume /var/lib/roost \
  --config.exposedports 4869/tcp --config.stopsignal SIGTERM \
  --config.entrypoint /usr/lib/roost/roostd --config.cmd --config --config.cmd /etc/roost/supervisor.conf \
  --config.env PATH=/usr/bin:/bin --config.env HOME=/var/lib/roost --config.env LANG=C.UTF-8 \
  --config.env XDG_RUNTIME_DIR=/run --config.env XDG_STATE_HOME=/var/lib \
  --config.label org.opencontainers.image.title=Roost --config.label org.opencontainers.image.licenses=MIT \
  --config.label "org.opencontainers.image.version=$version"
# umoci knows no health check and no name with a colon.
python3 Scripts/image-health.py "$layout" "localhost/roost:$version"
umoci gc --layout "$layout" >/dev/null

image=$out/roost-$version-$architecture.oci.tar
tar --create --file="$image" --directory="$layout" --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime="@$SOURCE_DATE_EPOCH" oci-layout index.json blobs
digest=$(sed -n 's/.*"digest": *"\(sha256:[0-9a-f]*\)".*/\1/p' "$layout/index.json")
echo "$image: $(($(stat -c %s "$image") >> 20)) MiB, $digest"
