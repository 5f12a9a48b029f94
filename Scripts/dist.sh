#!/usr/bin/env bash
# Makes what is published of a version from what `make package` built and laid out:
#
#   .build-package/roost-VERSION-linux-ARCH.tar.gz   the programs for any directory
#   .build-package/roost-VERSION.spdx.json           what they were made of (SPDX 2.3)
#   .build-package/SHA256SUMS                        of these two and of the package
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(sed -n 's/.*static let text = "\([^"]*\)".*/\1/p' Sources/Bus/Contracts/RoostVersion.swift)
architecture=$(dpkg --print-architecture)
out=.build-package
stage=$out/stage
name=roost-$version
package=roost_${version}_$architecture.deb
for file in $stage/usr/lib/roost/roostd "$out/$package" $out/roost.spdx.json; do
  if [[ ! -e $file ]]; then
    echo "roost: there is no $file. Type:  make dist" >&2
    exit 66
  fi
done

tree=$out/dist/$name
rm -rf $out/dist
install -d "$tree/lib" "$tree/share"
cp -a $stage/usr/bin "$tree/"
cp -a $stage/usr/lib/roost "$tree/lib/"
cp -a $stage/usr/share/doc/roost "$tree/share/doc"
install -m 644 $out/copyright "$tree/LICENSES"
install -m 644 supervisor.conf "$tree/"
install -m 644 $out/roost.spdx.json "$tree/$name.spdx.json"
libraries=$(dpkg-deb --field "$out/$package" Depends | tr ',' '\n' | sed 's/ *(.*//; s/^ *//; s/ |.*//' |
  grep -v -e debconf -e systemd -e init-system-helpers -e libcurl4t64 | sort -u | tr '\n' ' ')
cat >"$tree/INSTALL" <<END
Roost $version for Linux with glibc 2.36 or later. The programs stay where you unpack them:

    sudo apt install ${libraries}libcurl4
    mkdir -p ~/.config/roost && cp supervisor.conf ~/.config/roost/
    bin/roost setup

Those are the names of Debian 12; Debian 13 and Ubuntu 24.04 know them too. Where apt is, the Debian package does all
of this by itself. share/doc has the pages, LICENSES the licenses of what is included.
END

export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
archive=$name-linux-$architecture.tar.gz
tar --create --directory=$out/dist --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
  "$name" | gzip -9n >"$out/$archive"
rm -rf $out/dist
cp $out/roost.spdx.json "$out/$name.spdx.json"
(cd $out && sha256sum "$archive" "$package" "$name.spdx.json" >SHA256SUMS)
cat $out/SHA256SUMS
