#!/usr/bin/env bash
# What boot.sh does in the machine, as root. The file `wanted` has the two versions, and which steps; all without any.
# Each step can be done alone in a machine that was installed: none needs what another one left.
set -euo pipefail
source /srv/shared.sh
read -r lower version wanted </srv/wanted
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 SYSTEMD_COLORS=0 SYSTEMD_URLIFY=0
steps="boot reload upgrade watchdog rescue credential sockets journal user_manager removal"

# How things are, when a step has failed.
explain() {
  local status=$?
  ((status)) || return 0
  set +e
  echo "FAILED in $step"
  systemctl --no-pager --lines 0 status roost
  systemctl show --property NRestarts,MainPID,ActiveState,SubState,StatusText roost
  as alice timeout 60 roost status
  log -u roost -n 60
  log -u roost -n 20 _PID=1
} 2>&1
trap explain EXIT

apt() { apt-get -qq -y --no-install-recommends "$@" >/srv/apt.log 2>&1 || fail "apt-get $*: $(cat /srv/apt.log)"; }
show() { systemctl show --property "$1" --value roost; }
log() { journalctl --no-pager -o cat "$@"; }
starts() { log _PID=1 MESSAGE_ID=39f53479d3a045ac8e11786248231fbf UNIT=roost.service --boot | wc -l; }
query() { as alice timeout 60 roost query -k 1 -l 1; }
answers() { [[ $(query) == *'"content":"'* ]]; }
started() { [[ $(show ActiveState) != activating ]]; }
took() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "   %.1f s\n", b - a }'; }

installation() {
  step "$(uname -r), $(systemctl --version | head -1), up for $(cut -d. -f1 /proc/uptime) s: apt install, not enabled"
  local begin=$EPOCHREALTIME
  apt install "roost=$lower"
  took "$begin"
  [[ $(systemctl is-enabled roost || true) == disabled && $(show ActiveState) == inactive ]]
  useradd --create-home --shell /bin/bash alice
  usermod --append --groups roost alice
  chmod 644 /srv/events.jsonl

  # Emulated, a worker may need longer than ten seconds.
  sed -i '/^\[worker\.[a-z-]*]/ { /event-store/! s/$/\nstart-deadline = "3m"/ }' \
    /etc/roost/supervisor.conf /etc/xdg/roost/supervisor.conf

  step "systemctl enable --now roost, import, query: since apt install"
  systemctl enable --now roost 2>/dev/null
  as alice roost import /srv/events.jsonl
  answers
  took "$begin"
}

boot() {
  step "after a boot it is there: up for $(cut -d. -f1 /proc/uptime) s"
  [[ $(show ActiveState) == active && $(starts) == 1 ]]
  answers
  systemctl --no-pager --lines 0 status roost
  has "$(show StatusText)" "^\([0-9]*\) of \1 workers ready"
  systemd-analyze --man=no verify roost.service roost.socket roost-local-relay.socket
  systemd-analyze --no-pager --threshold=20 security roost | tail -1
}

reload() {
  step "systemctl reload roost lets a new member of the group in"
  local pid
  useradd --create-home bob
  if as bob roost status >/dev/null 2>&1; then fail "bob was let in before"; fi
  usermod --append --groups roost bob
  pid=$(show MainPID)
  systemctl reload roost
  as bob roost status >/dev/null
  [[ $(show MainPID) == "$pid" ]]
  has "$(log -u roost)" "Reloaded roost"
}

upgrade() {
  step "an upgrade under load restarts it once"
  local begin=$EPOCHREALTIME before pid load
  before=$(starts) pid=$(show MainPID)
  (while [[ ! -e /srv/enough ]]; do
    as alice roost import /srv/events.jsonl || true
    query || true
  done) >/srv/load.log 2>&1 &
  load=$!
  apt install "roost=$version"
  took "$begin"
  [[ $(show ActiveState) == active && $(show MainPID) != "$pid" ]]
  begin=$EPOCHREALTIME
  within 60 answers
  took "$begin"
  touch /srv/enough
  wait $load
  (($(starts) == before + 1)) || fail "it started $before times before, now $(starts)"
  [[ $(show NRestarts) == 0 ]]
  has "$(roost --version)" "^$version"
}

watchdog() {
  step "a roostd that is stopped (SIGSTOP) is restarted by the watchdog"
  local begin=$EPOCHREALTIME
  kill -STOP "$(show MainPID)"
  restarted() { [[ $(show NRestarts) == 1 && $(show ActiveState) == active ]]; }
  within 240 restarted
  took "$begin"
  has "$(log -u roost)" "Watchdog timeout"
  within 60 answers
}

# The disk is slowed for the service, and the database is read from it: so it lasts as long as that of a person with a
# thousand times the events. The damage is a page of zeros in the middle.
rescue() {
  step "a rescue of a damaged database that takes five minutes is not ended by a deadline"
  local database=/var/lib/roost/event-store/events.db begin pages seconds
  as alice roost key generate erin --no-passphrase >/dev/null
  python3 -c 'import json
for i in range(4000):
    event = {"kind": 1, "created_at": 1700000000 + i, "content": f"{i} " * 1200}
    print(json.dumps({"id": i, "method": "signer.sign", "params": {"account": "erin", "event": event}}))' |
    as alice roost bus | python3 -c 'import json, sys
for line in sys.stdin:
    print(json.dumps(json.loads(line)["result"]["event"]))' >/srv/many.jsonl
  as alice roost import /srv/many.jsonl
  systemctl stop roost
  pages=$(($(stat -c %s $database) / 4096))
  dd if=/dev/zero of=$database bs=4096 seek=$((pages / 2)) count=1 conv=notrunc,fsync status=none
  as roost touch $database.is-damaged
  dd if=$database iflag=nocache count=0 status=none
  systemctl set-property --runtime roost IOReadBandwidthMax="/var/lib/roost $((pages * 4096 / 340))"
  begin=$SECONDS
  systemctl start --no-block roost
  rescuing() { [[ $(show StatusText) == *"saving a damaged database"* ]]; }
  within 120 rescuing
  echo "   $(show StatusText)"
  within 900 started
  seconds=$((SECONDS - begin))
  echo "   $((pages / 256)) MiB, $seconds s: $(show StatusText)"
  ((seconds >= 300)) || fail "that was quick"
  [[ $(show ActiveState) == active && $(show NRestarts) == 0 ]]
  systemctl set-property --runtime roost IOReadBandwidthMax=
  has "$(as alice roost logs event-store)" "was damaged: it was put aside"
  # One process did it.
  as alice roost status --json | python3 -c 'import json, sys
assert [one["restarts"] for one in json.load(sys.stdin)["workers"] if one["name"] == "event-store"] == [0]'
  answers
}

credential() {
  step "a passphrase by LoadCredential unlocks an account at the start"
  echo 'correct horse battery' | as alice roost key generate carol >/dev/null
  (umask 077 && echo 'correct horse battery' >/etc/roost/carol.passphrase)
  sign() { as alice roost call signer.sign '{"account":"carol","event":{"kind":1,"content":"hello"}}'; }
  systemctl restart roost
  if sign >/dev/null 2>&1; then fail "the account is not locked"; fi
  mkdir /etc/systemd/system/roost.service.d
  printf '[Service]\nLoadCredential=roost.passphrase.carol:/etc/roost/carol.passphrase\n' \
    >/etc/systemd/system/roost.service.d/credential.conf
  systemctl daemon-reload
  systemctl restart roost
  has "$(sign)" '"sig"'
}

sockets() {
  step "sockets: the first client starts it, and clients wait while it restarts"
  systemctl disable --now roost 2>/dev/null
  systemctl enable --now roost.socket roost-local-relay.socket 2>/dev/null
  [[ $(show ActiveState) == inactive ]]
  answers
  within 60 started
  [[ $(show ActiveState) == active ]]
  answers
  document() {
    python3 -c 'import urllib.request as r
print(r.urlopen(r.Request("http://127.0.0.1:4869/", headers={"Accept": "application/nostr+json"}), timeout=60).read())'
  }
  systemctl restart --no-block roost
  has "$(document)" '"name"'
  within 60 started
  systemctl stop roost 2>/dev/null
  has "$(document)" '"name"'
  within 60 started
  [[ $(show ActiveState) == active ]]
  systemctl disable --now roost.socket roost-local-relay.socket 2>/dev/null
  systemctl enable roost 2>/dev/null
}

journal() {
  step "log-directory = \"none\": lines go to the journal, with fields"
  sed -i 's|^log-directory = .*|log-directory = "none"|' /etc/roost/supervisor.conf
  systemctl restart roost
  answers
  journalctl --no-pager -u roost ROOST_WORKER=local-relay -o json -n 1 |
    python3 -c 'import json, sys
line = json.loads(sys.stdin.readline())
print("  ", {key: line[key] for key in line if key.startswith("ROOST_") or key in ("PRIORITY", "MESSAGE")})
assert line["ROOST_CATEGORY"]'
}

user_manager() {
  step "a Roost of a user, in the user's manager"
  useradd --create-home --shell /bin/bash dora
  loginctl enable-linger dora
  export SESSION=1
  within 60 as dora systemctl --user is-active default.target
  # The account is made; its lists are not published, because no relay can say whether there are others: exit code 1.
  as dora roost setup --start --new --name dora --display-name Dora --no-passphrase --yes --no-wait || true
  [[ $(as dora systemctl --user is-active roost) == active ]]
  as dora systemctl --user enable roost 2>/dev/null
  as dora systemctl --user reload roost
  has "$(as dora roost key list)" dora
  as dora systemctl --user --no-pager --lines 0 status roost
  systemctl restart "user@$(id -u dora)"
  comes_back() { [[ $(as dora roost key list) == *dora* ]]; }
  within 120 comes_back
  unset SESSION
}

removal() {
  step "removal stops the system's Roost and keeps its data; purge with a yes deletes them"
  local users
  users=$(pgrep -x roostd | grep -vx "$(show MainPID)" || true)
  apt remove roost
  ! pgrep -u roost || fail "of the system's Roost something runs"
  [[ $(systemctl is-active roost || true) == inactive && -e /var/lib/roost/event-store/events.db ]]
  [[ $(pgrep -x roostd || true) == "$users" ]] || fail "a Roost of a user was ended"
  echo 'roost roost/purge-data boolean true' | debconf-set-selections
  apt purge roost
  [[ ! -e /var/lib/roost && ! -e /etc/roost/supervisor.conf ]]
}

for step in ${wanted:-$steps}; do
  if [[ " installation $steps " != *" $step "* ]]; then fail "there is no step $step; there are: $steps"; fi
  "$step"
done
echo "all steps passed"
