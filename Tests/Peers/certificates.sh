#!/usr/bin/env bash
# Makes an authority of its own and the certificates that tests of TLS need, good and bad, with the `openssl` command.
#
#   Tests/Peers/certificates.sh DIRECTORY       DIRECTORY must be there and empty
#
#   authority.pem   the certificate of the authority, to be trusted
#   NAME.pem        a server's certificate with its key behind it:
#     good          for localhost, 127.0.0.1 and ::1
#     other         for other.example and four more
#     expired       for localhost, in the year 2001
#     future        for localhost, in the year 2101
#     self          for localhost, signed with its own key
#     stranger      for localhost, by an authority that is not in authority.pem
#     named         for localhost by its common name only, which counts for nothing
#     home          for relay.home.example
#     renewed       for relay.home.example, the one that follows
#     video         for www.tiktok.com
set -euo pipefail
cd "$1"
here='DNS:localhost,IP:127.0.0.1,IP:::1'

cat >ca.conf <<'END'
[ca]
default_ca = own
[own]
database = index.txt
rand_serial = yes
new_certs_dir = .
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
END
: >index.txt

# authority NAME COMMON-NAME
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.pem" -days 3650 \
    -subj "/CN=$2" -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
}

# server NAME AUTHORITY COMMON-NAME FROM UNTIL [ALTERNATIVE-NAMES]
server() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$3" \
    ${6:+-addext "subjectAltName=$6"}
  openssl ca -batch -config ca.conf -cert "$2.pem" -keyfile "$2.key" -in "$1.csr" -out "$1.crt" -notext \
    -startdate "$4" -enddate "$5"
  cat "$1.crt" "$1.key" >"$1.pem"
}

{
  authority authority 'Roost Test Authority'
  authority unknown 'Nobody You Know'
  now=20000101000000Z later=20991231235959Z
  server good authority localhost $now $later "$here"
  server other authority other.example $now $later \
    'DNS:other.example,DNS:*.other.example,IP:192.0.2.7,DNS:d.example,DNS:e.example'
  server expired authority localhost 20010101000000Z 20011231235959Z "$here"
  server future authority localhost 21010101000000Z 21011231235959Z "$here"
  server stranger unknown localhost $now $later "$here"
  server named authority localhost $now $later
  server home authority relay.home.example $now $later DNS:relay.home.example
  server renewed authority relay.home.example $now $later DNS:relay.home.example
  server video authority www.tiktok.com $now $later DNS:www.tiktok.com
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout self.key -out self.crt -days 3650 \
    -subj /CN=localhost -addext "subjectAltName=$here"
  cat self.crt self.key >self.pem
} >log.txt 2>&1 || { tail -5 log.txt >&2; exit 1; }
