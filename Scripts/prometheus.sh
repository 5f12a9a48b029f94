#!/usr/bin/env bash
# Makes sure that tests find Debian's Prometheus and promtool: the system's, or one that is only unpacked, in
# .prometheus.
#
#   Scripts/prometheus.sh
#
# It is not installed, because Debian starts Prometheus at once when it is. A test that needs it and does not find it
# says "skipped: …"; nothing here is needed to build or to run Roost.
#
# Exit: 0 there, 75 not now (no apt-get, no network), with one line saying so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ -x /usr/bin/promtool || -x .prometheus/usr/bin/promtool ]] && exit 0

not_now() {
  echo "roost: no Prometheus: $1; the tests that need it are skipped" >&2
  exit 75
}

command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || not_now "this system has no apt-get"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && apt-get download -qq prometheus >/dev/null 2>&1) ||
  not_now "apt-get cannot download it (no network, or no lists: apt-get update)"
dpkg-deb -x "$folder"/prometheus_*.deb "$folder/unpacked" || not_now "its package cannot be unpacked"
"$folder/unpacked/usr/bin/promtool" --version >/dev/null 2>&1 || not_now "its promtool does not run"
rm -rf .prometheus
mv "$folder/unpacked" .prometheus
