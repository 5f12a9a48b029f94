#!/usr/bin/env bash
# Makes sure that tests find Debian's nginx: the system's, or one that is only unpacked, in .nginx.
#
#   Scripts/nginx.sh
#
# It is not installed, because Debian starts nginx at once when it is, on the ports of the web. A test that needs nginx
# and does not find it says "skipped: …"; nothing here is needed to build or to run Roost.
#
# Exit: 0 there, 75 not now (no apt-get, no network), with one line saying so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ -x /usr/sbin/nginx || -x .nginx/usr/sbin/nginx ]] && exit 0

not_now() {
  echo "roost: no nginx: $1; the tests that need it are skipped" >&2
  exit 75
}

command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || not_now "this system has no apt-get"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Older releases have the program in nginx-light, newer ones in nginx.
for package in nginx nginx-light; do
  (cd "$folder" && apt-get download -qq "$package" >/dev/null 2>&1) || continue
  dpkg-deb -x "$folder/$package"_*.deb "$folder/unpacked" || continue
  [[ -x $folder/unpacked/usr/sbin/nginx ]] && "$folder/unpacked/usr/sbin/nginx" -V >/dev/null 2>&1 || continue
  rm -rf .nginx
  mv "$folder/unpacked" .nginx
  exit 0
done
not_now "apt-get cannot download it (no network, or no lists: apt-get update)"
