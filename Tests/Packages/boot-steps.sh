#!/usr/bin/env bash
# What boot.sh does in the machine that it boots: boot-steps.sh LOWER VERSION
set -eEuo pipefail
lower=$1 version=$2
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

step() { echo "-- $*"; }
fail() {
  echo "FAILED: $*"
  journalctl --no-pager -u roost -n 20
  exit 1
}
trap 'fail "line $LINENO"' ERR
as() { # USER COMMAND…: as after a login of that user
  local user=$1 uid
  shift
  uid=$(id -u "$user")
  setpriv --reuid "$user" --regid "$user" --init-groups env -i HOME="/home/$user" PATH=/usr/bin:/bin LANG=C.UTF-8 \
    XDG_RUNTIME_DIR="/run/user/$uid" DBUS_SESSION_BUS_ADDRESS="unix:path=/run/user/$uid/bus" "$@"
}
until_ready() { # USER
  for _ in {1..150}; do
    if as "$1" roost status 2>/dev/null | grep -q 'event-store *ready'; then return 0; fi
    sleep 1
  done
  fail "the store of $1 is not ready: $(as "$1" roost status 2>&1)"
}
starts() { journalctl --no-pager -u roost -o cat | grep -c '^Started roost.service' || true; }
read_one() {
  as "$1" timeout 120 roost observe --policy cache-only --json --limit 1 '{"kinds":[1]}' | head -1 |
    grep -q '"content":"'
}

step "installed: both units are there, neither is enabled, nothing runs"
apt-get install -y -qq "/srv/roost_${lower}_amd64.deb" >/srv/log 2>&1 || fail "$(cat /srv/log)"
[[ $(systemctl is-enabled roost || true) == disabled && $(systemctl is-active roost || true) == inactive ]]
systemd-analyze verify /lib/systemd/system/roost.service
useradd --create-home alice
useradd --create-home bob
useradd --create-home carol
[[ $(as carol systemctl --user is-enabled roost 2>&1 || true) != enabled ]]

step "the unit of the system, and a member of group roost"
usermod --append --groups roost alice
systemctl enable --now roost
until_ready alice
as alice roost import /srv/events.jsonl >/dev/null
read_one alice
ls -ld /run/roost /run/roost/roost.sock /var/lib/roost /var/log/roost | sed 's/^/  /'
[[ $(starts) == 1 ]]

step "a new member needs a reload, and no restart"
[[ $(as bob roost status 2>&1 || true) == *"may not connect"* ]]
usermod --append --groups roost bob
systemctl reload roost
for _ in {1..50}; do
  if as bob roost status >/dev/null 2>&1; then break; fi
  sleep 0.2
done
as bob roost status >/dev/null
[[ $(starts) == 1 ]]

step "the unit of a user, who is in no group: setup starts it"
loginctl enable-linger carol
for _ in {1..100}; do
  if [[ -S /run/user/$(id -u carol)/bus ]]; then break; fi
  sleep 0.2
done
# Without a relay its lists cannot be published, and the exit code says so; the account is made.
as carol roost setup --start --new --name carol --display-name Carol --no-passphrase --yes --no-wait >/srv/log 2>&1 ||
  grep -q '^carol is made' /srv/log || fail "$(cat /srv/log)"
[[ $(as carol systemctl --user is-active roost) == active ]]
as carol systemctl --user show -p MainPID -p ExecMainStatus roost | sed 's/^/  /'

step "an upgrade restarts the unit of the system, once, and keeps everything"
begin=$SECONDS
apt-get install -y -qq "/srv/roost_${version}_amd64.deb" >/srv/log 2>&1 || fail "$(cat /srv/log)"
[[ $(systemctl is-active roost) == active && $(systemctl is-enabled roost) == enabled ]]
until_ready alice
read_one alice
echo "  upgraded and answered after $((SECONDS - begin)) s"
[[ $(starts) == 2 ]] || fail "it started $(starts) times"
[[ $(as carol systemctl --user is-active roost) == active ]]

step "removal stops it and keeps the data; purge without an answer keeps them too"
apt-get remove -y -qq roost >/srv/log 2>&1 || fail "$(cat /srv/log)"
[[ $(systemctl is-active roost || true) != active ]]
ls /var/lib/roost/event-store >/dev/null
apt-get purge -y -qq roost >/srv/log 2>&1 || fail "$(cat /srv/log)"
grep -q 'rm -r /var/lib/roost' /srv/log
ls /var/lib/roost/event-store >/dev/null
echo "-- all steps passed"
