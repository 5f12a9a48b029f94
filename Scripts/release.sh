#!/usr/bin/env bash
# Builds all programs for release and lays out what a package installs.
#
#   Scripts/release.sh STAGE PROGRAM…      STAGE is emptied first
#
#   usr/lib/roost/           the programs side by side, Swift's runtime once beside them, and the file `commit`
#   usr/bin/                 links to roost and roostd
#   usr/lib/systemd/user/    the unit for one's own Roost
#   etc/xdg/roost/           supervisor.conf for one's own Roost
#   etc/roost/               supervisor.conf for the Roost of the system
#   usr/share/…              manual pages, completions; in doc/roost the pages and the examples
#
# docs/decisions/0025-packages.md says why each thing is linked as it is. The script ends with an error if a program
# would need a library that a package cannot name.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# < 2)); then
  echo "usage: Scripts/release.sh STAGE PROGRAM…" >&2
  exit 2
fi
stage=$(realpath -m "$1")
shift
scratch=.build-release
lib=$stage/usr/lib/roost

# The archives of the libraries that are linked statically, in a directory where the linker looks first: all that
# pkg-config says of any library begins with it, because the order of libraries is SwiftPM's.
archives=$PWD/$scratch/static
rm -rf "$archives" $scratch/pkgconfig
mkdir -p "$archives" $scratch/pkgconfig
for name in libsecp256k1 libutf8proc; do
  archive=$(cc -print-file-name=$name.a)
  if [[ $archive != /* ]]; then
    echo "roost: $name.a is not there; its -dev package has it" >&2
    exit 69
  fi
  ln -sfn "$archive" "$archives/$name.a"
done

for name in $(sed -n 's/.*pkgConfig: "\([^"]*\)".*/\1/p' Package.swift); do
  sed "s|^Libs:|Libs: -L$archives|" "$(pkg-config --variable=pcfiledir "$name")/$name.pc" >"$scratch/pkgconfig/$name.pc"
done
export PKG_CONFIG_PATH=$PWD/$scratch/pkgconfig

for program in "$@"; do
  swift build -c release --scratch-path $scratch --product "$program" \
    -Xswiftc -no-toolchain-stdlib-rpath -Xswiftc -file-prefix-map -Xswiftc "$PWD=." \
    -Xlinker -z -Xlinker relro
done
built=$(readlink -f $scratch/release)

rm -rf "$stage"
install -d "$lib" "$stage/usr/bin"
for program in "$@"; do install "$built/$program" "$lib/"; done
for program in roostd roost; do ln -s "../lib/roost/$program" "$stage/usr/bin/$program"; done

# Swift's runtime: what the programs need of it, and what that needs.
runtime=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")/lib/swift/linux
needed() { readelf -d "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | sort -u; }
while :; do
  copied=
  for name in $(needed "$lib"/*); do
    if [[ -e $runtime/$name && ! -e $lib/$name ]]; then
      install -m 644 "$runtime/$name" "$lib/"
      copied=1
    fi
  done
  [[ -n $copied ]] || break
done

# Here and not in packaging, so that the sums in the bill of materials are those of the files that people get.
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$lib"/*

if needed "$lib"/* | grep -E '^lib(secp256k1|utf8proc)\.'; then
  echo "roost: that library was to be linked statically" >&2
  exit 70
fi
for file in "$lib"/*; do
  paths=$(readelf -d "$file" | sed -n 's/.*(R\(UN\)\?PATH).*\[\(.*\)\].*/\2/p')
  if [[ -n $paths && $paths != "\$ORIGIN" ]]; then
    echo "roost: ${file##*/} looks for libraries in $paths" >&2
    exit 70
  fi
done

# The commit, as `roost --version` says it; with a + if the tree has changes that are in no commit.
if commit=$(git rev-parse --short=12 HEAD 2>/dev/null); then
  if [[ -n $(git status --porcelain --untracked-files=no) ]]; then commit+=+; fi
  echo "$commit" >"$lib/commit"
fi

install -d "$stage/etc/xdg/roost" "$stage/etc/roost" "$stage/usr/lib/systemd/user"
install -m 644 supervisor.conf "$stage/etc/xdg/roost/"
# The Roost of the system has its places where Debian has them, and serves a group.
sed -e 's|^#state-directory = .*|state-directory = "/var/lib/roost"|' \
  -e 's|^#run-directory = .*|run-directory = "/run/roost"|' \
  -e 's|^#log-directory = .*|log-directory = "/var/log/roost"|' \
  -e 's|^#allow-groups = .*|allow-groups = ["roost"]|' supervisor.conf >"$stage/etc/roost/supervisor.conf"
if (($(diff supervisor.conf "$stage/etc/roost/supervisor.conf" | grep -c '^>') != 4)); then
  echo "roost: supervisor.conf has not the four lines that the system's differs in" >&2
  exit 70
fi
# Without --config roostd takes the user's own file if there is one, else the one in /etc/xdg.
sed -e 's| --config %E/roost/supervisor.conf||' -e 's|@PREFIX@/share/roost|/usr/share/doc/roost|' \
  -e 's|@PREFIX@|/usr|' -e '1s|.*|# The Roost of one user: systemctl --user enable --now roost|' \
  packaging/roost.service >"$stage/usr/lib/systemd/user/roost.service"

doc=$stage/usr/share/doc/roost
install -d "$doc/examples" "$doc/workers" "$doc/decisions"
install -m 644 README.md CHANGELOG.md docs/*.md "$doc/"
install -m 644 docs/workers/*.md "$doc/workers/"
install -m 644 docs/decisions/*.md "$doc/decisions/"
install -m 644 supervisor.conf "$doc/examples/"
install examples/*.py "$doc/examples/"
install -d "$doc/examples/prometheus"
install -m 644 packaging/prometheus/* "$doc/examples/prometheus/"

# Manual pages and completions. A shell reads its file of completions, and does not run it.
manuals=$scratch/manuals
rm -rf $manuals
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s) \
  python3 Scripts/manuals.py $manuals "$lib/roost" "$lib/roostd"
sed -i '1{/^#!/d}' $manuals/completions/*/*
for section in 1 5 8; do
  install -d "$stage/usr/share/man/man$section"
  install -m 644 $manuals/man$section/* "$stage/usr/share/man/man$section/"
done
install -D -m 644 $manuals/completions/bash/roost "$stage/usr/share/bash-completion/completions/roost"
install -D -m 644 $manuals/completions/zsh/_roost "$stage/usr/share/zsh/vendor-completions/_roost"
install -D -m 644 $manuals/completions/fish/roost.fish "$stage/usr/share/fish/vendor_completions.d/roost.fish"
