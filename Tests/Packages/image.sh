#!/usr/bin/env bash
# Runs the container images of two versions, as Scripts/image.sh made them, by podman and runc: first start, setup and
# import without a network, health, a restart and an upgrade with the same volume, and which clients are let in at a
# published port.
#
#   Tests/Packages/image.sh
#
# It needs root. Everything of podman's is in a directory of its own, which goes at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source Tests/Packages/shared.sh

out=$PWD/.build-package
if ((EUID)); then
  echo "roost: network namespaces need root. Type:  sudo make image-test" >&2
  exit 77
fi
Scripts/system-packages.sh podman runc iproute2 openssl
version=$(sed -n 's/.*static let text = "\([^"]*\)".*/\1/p' Sources/Bus/Contracts/RoostVersion.swift)
lower=0.1.99
scratch=$(mktemp -d "$out/image.XXXXXX")
network=roost-$$
# Without systemd there are no timers for health checks: the test asks for each.
export DISABLE_HC_SYSTEMD=true
# runc, because crun takes no machine with both versions of control groups.
podman() {
  command podman --root "$scratch/storage" --runroot "$scratch/run" --tmpdir "$scratch/tmp" --storage-driver vfs \
    --cgroup-manager cgroupfs --events-backend none --runtime "$(command -v runc)" "$@"
}
end() {
  podman rm --force --all --time 20 >/dev/null 2>&1 || true
  podman rmi --all --force >/dev/null 2>&1 || true
  ip netns delete "$network" 2>/dev/null || true
  rm -rf --one-file-system "$scratch"
}
trap end EXIT
limits=(--ulimit nofile=20000:20000 --ulimit nproc=4096:4096)
run() { # VERSION NETWORK [ARGUMENT-OF-THE-IMAGE…]
  local image=localhost/roost:$1 net=$2
  shift 2
  podman run --detach --name roost --network "$net" --volume data:/var/lib/roost \
    --volume "$scratch/supervisor.conf:/etc/roost/supervisor.conf:ro" \
    --volume "$scratch/published.conf:/etc/roost/published.conf:ro" --volume "$scratch/tls:/etc/roost/tls:ro" \
    "${limits[@]}" --health-cmd 'roost doctor' "$image" "$@" >/dev/null
  within 60 ready
}
ready() { podman exec roost roost status --json | grep -q '"event-store"' && healthy; }
healthy() { podman healthcheck run roost; }
query() { podman exec roost roost query -k 1 -l 1; }
stranger() { # ws|wss ADDRESS [COMMAND…]: a client that the command starts
  local scheme=$1 address=$2
  shift 2
  "$@" /usr/bin/python3 - "$scheme" "$address" <Tests/Packages/stranger.py
}
mkdir "$scratch/tls"

for wanted in $lower "$version"; do
  podman load --quiet --input "$out/roost-${wanted}-$(dpkg --print-architecture).oci.tar" >/dev/null
done

# Without a network no relay can be reached, and that makes `roost doctor` fail.
for name in supervisor published; do
  podman run --rm --network none "${limits[@]}" --entrypoint cat "localhost/roost:$version" /etc/roost/$name.conf |
    sed -e 's/^\(relays\|indexers\) = \[".*/\1 = []/' -e '/^relays = \[$/,/^]/ { /"/d }' >"$scratch/$name.conf"
done

step "first start of $lower, as user roost, without a network"
run $lower none
has "$(podman exec roost id 2>&1)" "uid=4869(roost)"
has "$(podman logs roost 2>&1)" "event-store"

step "setup, import and query"
told=$(podman exec roost roost setup --new --name alice --display-name Alice --no-passphrase --yes --no-wait 2>&1) ||
  true
has "$told" "^alice is made"
podman exec --interactive roost roost import - <Tests/Peers/events.jsonl
event=$(query)
has "$event" '"content":"'

step "health: a worker that ends again and again makes it bad, and roost start makes it good"
podman exec roost roost doctor
broken() { ! healthy; }
for _ in {1..8}; do
  # The kill is the test's, from outside: the container has no right that its user lacks.
  pkill -KILL --parent "$(podman inspect --format '{{.State.Pid}}' roost)" -f event-store || true
  sleep 1
done
within 30 broken
has "$(podman exec roost roost doctor || true)" "event-store"
podman exec roost roost start event-store
within 60 healthy

step "a stop is in order, and another container with the same volume has everything"
podman stop --time 30 roost >/dev/null
test "$(podman inspect --format '{{.State.ExitCode}}' roost)" = 0
podman rm roost >/dev/null
run $lower none
test "$(query)" = "$event"
has "$(podman exec roost roost key list)" alice
podman rm --force --time 30 roost >/dev/null

step "so has one of $version"
run "$version" none
has "$(podman exec roost roost --version)" "^$version"
test "$(query)" = "$event"
has "$(podman exec roost roost key list)" alice

step "on its own loopback, another user of the same network namespace gets nothing"
namespace=/proc/$(podman inspect --format '{{.State.Pid}}' roost)/ns/net
test "$(stranger ws 127.0.0.1 nsenter --net="$namespace" setpriv --reuid 4869 --clear-groups)" = "metrics 200, no login"
test "$(stranger ws 127.0.0.1 nsenter --net="$namespace")" = "metrics 403, login"
podman rm --force --time 30 roost >/dev/null

step "a published port: refused without a certificate; with one, TLS and a login for all who come to it"
podman run --detach --name roost --network none "${limits[@]}" "localhost/roost:$version" \
  --config /etc/roost/published.conf >/dev/null
refused() { podman logs roost 2>&1 | grep -q certificate; }
within 60 refused
podman rm --force --time 30 roost >/dev/null
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost -keyout "$scratch/tls/key.pem" -out "$scratch/tls/certificate.pem" 2>/dev/null
chmod 755 "$scratch" "$scratch/tls"
chown 4869 "$scratch/tls/key.pem"
# What podman's and docker's published ports do: a connection from the host to the container's own address.
ip netns add "$network"
ip link add "$network" type veth peer name eth0 netns "$network"
ip address add 10.48.69.1/30 dev "$network"
ip link set "$network" up
ip netns exec "$network" sh -c 'ip link set lo up; ip address add 10.48.69.2/30 dev eth0; ip link set eth0 up'
run "$version" "ns:/run/netns/$network" --config /etc/roost/published.conf
test "$(stranger wss 10.48.69.2)" = "metrics 403, login"
! stranger ws 10.48.69.2 2>/dev/null || fail "it serves without TLS"
# What a forwarder inside the container's network does: a connection from root there, at the loopback.
test "$(stranger wss 127.0.0.1 ip netns exec "$network")" = "metrics 403, login"
test "$(query)" = "$event"
echo "all steps passed"
