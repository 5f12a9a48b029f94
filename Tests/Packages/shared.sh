#!/usr/bin/env bash
# What the scripts of this directory have in common; they are read by bash with `source`.
step() { echo "-- $*"; }
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
as() { # USER COMMAND…: in a new session of that user
  local user=$1
  shift
  setpriv --reuid "$user" --regid "$user" --init-groups env -i HOME="$(getent passwd "$user" | cut -d: -f6)" \
    ${SESSION:+"XDG_RUNTIME_DIR=/run/user/$(id -u "$user")"} PATH=/usr/bin:/bin LANG=C.UTF-8 "$@"
}
has() { grep -q -- "$2" <<<"$1" || fail "'$2' is not in: $1"; }
within() { # SECONDS COMMAND…: waits until it succeeds
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS >= end)); then fail "not in time: $*"; fi
    sleep 0.2
  done
}

# Of the scripts that run in a checkout, as root: which packages are tried, and where they are.
need_root() { # TARGET
  if ((EUID)); then
    echo "roost: this needs root. Type:  sudo make $1" >&2
    exit 77
  fi
}
need_packages() { # TARGET
  local wanted
  out=$PWD/.build-package
  version=$(sed -n 's/.*static let text = "\([^"]*\)".*/\1/p' Sources/Bus/Contracts/RoostVersion.swift)
  lower=0.1.99
  for wanted in "$version" $lower; do
    if ! ls "$out/roost_${wanted}"_*.deb >/dev/null 2>&1; then
      echo "roost: there is no package of version $wanted in .build-package. Type:  make package $1" >&2
      exit 66
    fi
  done
}
base() { # NAME SUITE [PACKAGE,…]: makes the base system .build-package/roots/NAME.tar, once
  local tar=$out/roots/$1.tar source="deb http://deb.debian.org/debian $2 main"
  # Debian has no package with Ubuntu's keys, and what comes from there is only tried here.
  if [[ $2 == noble ]]; then source="deb [trusted=yes] http://archive.ubuntu.com/ubuntu $2 main universe"; fi
  if [[ ! -e $tar ]]; then
    mkdir -p "$out/roots"
    mmdebstrap --quiet --format=tar --variant=apt --include="passwd,procps${3:+,$3}" "$2" "$tar.new" "$source"
    mv "$tar.new" "$tar"
  fi
}
repository() { # ROOT VERSION…: a repository of the packages of these versions, for apt in the root
  local root=$1 wanted
  shift
  mkdir -p "$root/srv/roost"
  for wanted in "$@"; do cp "$out/roost_${wanted}"_*.deb "$root/srv/roost/"; done
  (cd "$root/srv/roost" && dpkg-scanpackages --multiversion . >Packages 2>/dev/null)
  echo 'deb [trusted=yes] file:/srv/roost ./' >"$root/etc/apt/sources.list.d/roost.list"
}
