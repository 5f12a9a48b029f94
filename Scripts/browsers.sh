#!/usr/bin/env bash
# Makes sure that tests find Debian's browsers, chromium and firefox-esr, and notify-send with what shows its notices.
#
#   Scripts/browsers.sh
#
# They take 600 MB, so they are installed only with CI set, as root or with a sudo that asks no password. A test that
# needs one and does not find it says "skipped: …"; nothing here is needed to build or to run Roost.
#
# Exit: 0 there, 75 not now, with one line saying so.
set -euo pipefail

packages=()
for pair in chromium:chromium chromedriver:chromium-driver firefox-esr:firefox-esr notify-send:libnotify-bin \
  dbus-daemon:dbus-daemon; do
  command -v "${pair%%:*}" >/dev/null || packages+=("${pair##*:}")
done
/usr/bin/python3 -c 'import gi' 2>/dev/null || packages+=(python3-gi)
((${#packages[@]})) || exit 0

not_now() {
  echo "roost: no ${packages[*]}: $1; the tests that need them are skipped" >&2
  exit 75
}

[[ -n ${CI:-} ]] || not_now "they are installed only with CI set"
command -v apt-get >/dev/null || not_now "this system has no apt-get"
sudo=()
((EUID == 0)) || sudo=(sudo -n)
"${sudo[@]}" true 2>/dev/null || not_now "sudo asks for a password"
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq </dev/null >/dev/null 2>&1 ||
  not_now "no package lists"
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-remove --no-install-recommends \
  "${packages[@]}" </dev/null >/dev/null 2>&1 || not_now "apt-get cannot install them"
