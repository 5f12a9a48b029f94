#!/usr/bin/env bash
# What run.sh does in a root that has just got the package: steps.sh LOWER VERSION SECONDS-AT-THE-BEGINNING
set -euo pipefail
source /srv/shared.sh
lower=$1 version=$2 begin=$3

local_apt() { # only the repository on this machine: there is no network
  local log=/srv/apt.log
  apt-get -qq -y -o Dir::Etc::sourcelist=/etc/apt/sources.list.d/roost.list -o Dir::Etc::sourceparts=- "$@" \
    >$log 2>&1 || fail "apt-get $*: $(cat $log)"
}
ended() { # USER: waits until nothing of the user runs
  for _ in {1..300}; do
    pgrep -u "$1" >/dev/null || return 0
    sleep 0.1
  done
  fail "of $1 there still runs: $(pgrep -a -u "$1")"
}

step "installed, not enabled, not started"
has "$(roost --version)" "^0\.[0-9.]* ([0-9a-f]*+\?)$"
test "$(dpkg-query -W -f '${Version}' roost)" = "$lower"
getent passwd roost >/dev/null || fail "there is no user roost"
for unit in system user; do
  [[ -e /lib/systemd/$unit/roost.service || -e /usr/lib/systemd/$unit/roost.service ]] || fail "there is no $unit unit"
done
[[ -z $(find /etc/systemd -name roost.service) ]] || fail "a unit is enabled"
! pgrep roostd || fail "roostd runs already"
/usr/bin/roostd --check --config /etc/roost/supervisor.conf
/usr/bin/roostd --check --config /etc/xdg/roost/supervisor.conf

step "first start and setup of a user, without a network"
useradd --create-home --shell /bin/bash alice
# The account is made; its lists are not published, because no relay can say whether there are others: exit code 1.
told=$(as alice roost setup --start --new --name alice --display-name Alice --no-passphrase --yes --no-wait 2>&1) ||
  true
has "$told" "^alice is made"

step "import, and a read"
chmod 644 /srv/events.jsonl
as alice roost import /srv/events.jsonl
read_one() { as "$1" timeout 20 roost observe --policy cache-only --json --limit 1 '{"kinds":[1]}' | head -1; }
has "$(read_one alice)" '"content":"'
awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "from apt-get install to an answered read: %.1f s\n", b - a }'

step "upgrade to $version while it runs"
local_apt update
local_apt install --no-install-recommends roost
test "$(dpkg-query -W -f '${Version}' roost)" = "$version"
has "$(read_one alice)" '"content":"'
has "$(as alice roost status)" 'event-store *ready'
pkill -TERM -u alice roostd
ended alice
as alice roost setup --start --name alice --yes --no-wait >/dev/null
has "$(read_one alice)" '"content":"'
has "$(as alice roost key list)" alice
pkill -TERM -u alice roostd
ended alice

step "the Roost of the system, for the members of group roost"
useradd --create-home bob
usermod --append --groups roost alice
as roost setsid /usr/lib/roost/roostd --quiet --config /etc/roost/supervisor.conf </dev/null &
for _ in {1..100}; do
  [[ ! -S /run/roost/roost.sock ]] || break
  sleep 0.1
done
for _ in {1..100}; do
  if as alice roost status | grep -q 'event-store *ready'; then break; fi
  sleep 0.2
done
as alice roost import /srv/events.jsonl
has "$(read_one alice)" '"content":"'
if told=$(as bob roost status 2>&1); then fail "bob, who is no member, was let in: $told"; fi
has "$told" "may not connect"

step "removal keeps the data, and ends nothing that users run"
local_apt remove roost
[[ ! -e /usr/lib/roost/roostd && ! -e /usr/bin/roost ]] || fail "programs are left"
ls /var/lib/roost/event-store /home/alice/.local/state/roost/event-store >/dev/null
pkill -TERM -u roost roostd
ended roost

step "purge without an answer keeps them, and says how to delete them"
local_apt purge roost
has "$(cat /srv/apt.log)" "rm -r /var/lib/roost"
ls /var/lib/roost/event-store >/dev/null
[[ ! -e /etc/roost && ! -e /etc/xdg/roost ]] || fail "the configuration is left"

step "purge with a yes deletes them"
local_apt install --no-install-recommends roost
ls /var/lib/roost/event-store >/dev/null
echo 'roost roost/purge-data boolean true' | debconf-set-selections
local_apt purge roost
[[ ! -e /var/lib/roost && ! -e /var/log/roost ]] || fail "data are left: $(ls -d /var/lib/roost /var/log/roost)"
ls /home/alice/.local/state/roost/event-store >/dev/null
echo "all steps passed"
