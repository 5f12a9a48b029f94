#!/usr/bin/env bash
# Builds the Debian package, and has lintian look at it.
#
#   Scripts/package.sh [--version VERSION] [--keep-stage] PROGRAM…
#
#   It makes .build-package/roost_VERSION_ARCH.deb.
#
#   --version      another version than that of the programs, to test an upgrade: in a hurry, large and not looked at
#   --keep-stage   package what the last run built and laid out
#
# One build on Debian 12 serves Debian 12, Debian 13 and Ubuntu 24.04 (docs/decisions/0025-packages.md).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(sed -n 's/.*static let text = "\([^"]*\)".*/\1/p' Sources/Bus/Contracts/RoostVersion.swift)
keep=
export COMPRESSION=3
while [[ ${1-} == --* ]]; do
  case $1 in
    --version) version=$2 && COMPRESSION=0 && shift 2 ;;
    --keep-stage) keep=1 && shift ;;
    *) echo "roost: there is no option $1; see the head of Scripts/package.sh" >&2 && exit 2 ;;
  esac
done

Scripts/system-packages.sh debhelper dpkg-dev fakeroot lintian
out=.build-package
stage=$out/stage
if [[ -z $keep ]]; then
  Scripts/release.sh $stage "$@"
  python3 Scripts/bill.py --stage $stage --version "$version" --spdx $out/roost.spdx.json --copyright $out/copyright \
    --built-using $out/built-using
fi

tree=$out/roost-$version
rm -rf "$tree"
mkdir -p "$tree"
cp -a packaging/debian "$tree/debian"
cp -a $stage "$tree/stage"
cp $out/copyright "$tree/debian/copyright"
cp $out/built-using "$tree/debian/built-using"
{
  printf 'roost (%s) unstable; urgency=medium\n\n' "$version"
  printf '  * What is new: /usr/share/doc/roost/CHANGELOG.md\n\n'
  printf ' -- The Roost authors <maintainers@roost.invalid>  %s\n' "$(git log -1 --format=%cD 2>/dev/null || date -R)"
} >"$tree/debian/changelog"

export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
log=$out/build.log
if ! (cd "$tree" && dpkg-buildpackage --build=binary --no-sign) >$log 2>&1; then
  tail -20 $log >&2
  exit 70
fi
rm -rf "$tree"
deb=$(echo "$out/roost_${version}"_*.deb)
if ((COMPRESSION)); then lintian --fail-on error --tag-display-limit 0 "$out/roost_${version}"_*.changes; fi
echo "$deb: $(($(stat -c %s "$deb") >> 20)) MiB"
