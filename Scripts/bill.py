#!/usr/bin/env python3
"""Writes what the packaged programs were made of, from what was linked and not from what was asked for.

    Scripts/bill.py --stage DIR --version VERSION --spdx FILE --copyright FILE --built-using FILE

- The Swift packages: those with an object in a program's list for the linker, with version and commit of the checkout.
- Swift's runtime: the libraries in usr/lib/roost.
- What is linked statically from Debian: the archives in .build-release/static.
- What is linked dynamically: the Debian packages whose libraries a program names, of the machine that built it.
- libcurl, which is loaded when it is needed.

--spdx writes SPDX 2.3 as JSON, --copyright the file that a Debian package must have, with all notices, --built-using
what was linked statically, in the form of that field.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

SCRATCH = pathlib.Path(".build-release")
# What Debian says of these licences is text; only of what is inside the programs it is named here.
STATIC_LICENSES = {"libsecp256k1-dev": "MIT", "libutf8proc-dev": "MIT AND Unicode-DFS-2015"}
APACHE = "the license is in /usr/share/common-licenses/Apache-2.0"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def program_names(stage):
    """The programs and libraries of usr/lib/roost: what begins with the bytes of ELF."""
    folder = stage / "usr/lib/roost"
    files = [file for file in sorted(folder.iterdir()) if file.open("rb").read(4) == b"\x7fELF"]
    return [file for file in files if ".so" not in file.name], [file for file in files if ".so" in file.name]


def linked_checkouts(programs):
    """The folders of checkouts/ that have an object in one of the programs."""
    release = (SCRATCH / "release").resolve()
    origins = {}
    for program in programs:
        listed = (release / f"{program.name}.product/Objects.LinkFileList").read_text()
        for folder in set(re.findall(r"/([^/\s']+\.build)/", listed)):
            if folder not in origins:
                origins[folder] = origin(release / folder)
    return sorted(name for name in set(origins.values()) if name)


def origin(folder):
    """The checkout that a module was compiled from; None for a module of Roost's own."""
    files = [folder / "output-file-map.json"] + sorted(folder.rglob("*.d"))
    for file in files:
        if file.exists():
            found = re.search(r"/checkouts/([^/]+)/", file.read_text())
            return found and found.group(1)
    sys.exit(f"roost: it cannot be told where {folder} comes from")


def license_of(text):
    if "Apache License" in text:
        return "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0"
    if "Permission is hereby granted, free of charge" in text:
        return "MIT"
    sys.exit(f"roost: a license that Scripts/bill.py does not know begins: {text[:200]}")


def swift_packages(programs):
    state = json.loads((SCRATCH / "workspace-state.json").read_text())["object"]["dependencies"]
    known = {entry["subpath"]: entry for entry in state}
    for name in linked_checkouts(programs):
        entry = known[name]
        checkout = entry["state"]["checkoutState"]
        folder = SCRATCH / "checkouts" / name
        text = next(folder.glob("LICENSE*")).read_text()
        notice = "".join(file.read_text() for file in sorted(folder.glob("NOTICE*")))
        location = entry["packageRef"]["location"].removesuffix(".git")
        yield {
            "name": name, "version": checkout["version"], "license": license_of(text), "text": text, "notice": notice,
            "download": f"git+{location}@{checkout['revision']}",
            "purl": f"pkg:swift/{location.removeprefix('https://')}@{checkout['version']}",
        }


def swift_runtime(libraries):
    version = re.search(r"Swift version (\S+)", run("swift", "--version")).group(1)
    compiler = pathlib.Path(run("bash", "-c", "readlink -f \"$(command -v swiftc)\"").strip())
    text = (compiler.parents[1] / "share/swift/LICENSE.txt").read_text()
    return {
        "name": "swift", "version": version, "license": license_of(text), "text": text, "notice": "",
        "download": f"git+https://github.com/swiftlang/swift@swift-{version}-RELEASE",
        "purl": f"pkg:github/swiftlang/swift@swift-{version}-RELEASE",
        "comment": "Runtime libraries: " + ", ".join(library.name for library in libraries),
    }


def debian_package(path):
    """The Debian package of a file: its name, version, and its source with version."""
    # dpkg of Debian 12 knows some files below /lib, which is a link to /usr/lib.
    real = os.path.realpath(path)
    found = subprocess.run(["dpkg", "-S", real, real.removeprefix("/usr")], capture_output=True, text=True).stdout
    if not found:
        sys.exit(f"roost: no Debian package has {real}")
    owner = found.split(":")[0].split(",")[0]
    form = "${Package}\t${Version}\t${source:Package}\t${source:Version}\t${Architecture}"
    fields = run("dpkg-query", "-W", "-f", form, owner).split("\t")
    name, version, source, source_version, architecture = fields
    return {
        "name": name, "version": version, "source": source, "source-version": source_version, "license": None,
        "download": "NOASSERTION", "purl": f"pkg:deb/debian/{name}@{version}?arch={architecture}",
    }


def static_packages():
    for archive in sorted((SCRATCH / "static").glob("*.a")):
        package = debian_package(archive)
        text = pathlib.Path(f"/usr/share/doc/{package['name']}/copyright").read_text()
        yield package | {"license": STATIC_LICENSES[package["name"]], "text": text, "notice": ""}


def dynamic_packages(programs, libraries):
    own = {library.name for library in libraries}
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", *map(str, programs + libraries)))) - own
    cache = dict(re.findall(r"^\t(\S+) .*=> (\S+)$", run("/sbin/ldconfig", "-p"), re.MULTILINE))
    packages = {}
    for name in sorted(needed | {"libcurl.so.4"}):
        package = debian_package(cache[name])
        how = "loaded when it is needed" if name == "libcurl.so.4" else "linked"
        packages.setdefault(package["name"], package | {"how": how})
    return list(packages.values())


def element_id(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def spdx_package(package, kind):
    element = {
        "SPDXID": element_id(f"{kind}-{package['name']}"), "name": package["name"], "versionInfo": package["version"],
        "downloadLocation": package["download"], "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
        "licenseDeclared": package["license"] or "NOASSERTION", "copyrightText": "NOASSERTION",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": package["purl"]}
        ],
    }
    if "source" in package:
        element["sourceInfo"] = f"built from Debian's source package {package['source']} {package['source-version']}"
    if "comment" in package:
        element["comment"] = package["comment"]
    return element


def spdx_files(stage):
    for path in sorted(stage.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        name = str(path.relative_to(stage))
        yield {
            "SPDXID": element_id("File-" + hashlib.sha1(name.encode()).hexdigest()[:16]), "fileName": "./" + name,
            "checksums": [
                {"algorithm": kind.upper(), "checksumValue": hashlib.new(kind, data).hexdigest()}
                for kind in ("sha1", "sha256")
            ],
            "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION",
        }


def spdx(stage, version, commit, groups):
    files = list(spdx_files(stage))
    sums = sorted(file["checksums"][0]["checksumValue"] for file in files)
    roost = {
        "SPDXID": "SPDXRef-roost", "name": "roost", "versionInfo": version, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": True, "licenseConcluded": "NOASSERTION", "licenseDeclared": "MIT",
        "packageVerificationCode": {"packageVerificationCodeValue": hashlib.sha1("".join(sums).encode()).hexdigest()},
        "copyrightText": "Copyright (c) 2026 The Roost authors", "sourceInfo": f"commit {commit}",
        "primaryPackagePurpose": "APPLICATION", "hasFiles": [file["SPDXID"] for file in files],
    }
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-roost")]
    packages = [roost]
    for kind, relation, members in groups:
        for member in members:
            element = spdx_package(member, kind)
            packages.append(element)
            is_loaded = member.get("how") == "loaded when it is needed"
            relations.append(("SPDXRef-roost", "DEPENDS_ON" if is_loaded else relation, element["SPDXID"]))
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct"))
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    name = f"roost-{version}-{commit}"
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        # The contents name it, so that two different bills never have one name.
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{uuid.uuid5(uuid.NAMESPACE_URL, ''.join(sums))}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: roost-bill"]},
        "packages": packages, "files": files,
        "relationships": [
            {"spdxElementId": one, "relationshipType": relation, "relatedSpdxElement": other}
            for one, relation, other in relations
        ],
    }


def copyright_text(included):
    parts = ["Roost\n\n" + pathlib.Path("LICENSE").read_text()]
    for package in included:
        head = f"Included: {package['name']} {package['version']}"
        if package["license"].startswith("Apache"):
            body = f"{package['license']}; {APACHE}.\n"
            exception = re.search(r"^#+ Runtime Library Exception.*", package["text"], re.DOTALL | re.MULTILINE)
            body += "\n" + exception.group(0) + "\n" if exception else ""
        else:
            body = package["text"]
        parts.append(f"{head}\n\n{body}" + ("\n" + package["notice"] if package["notice"] else ""))
    return ("\n" + "-" * 78 + "\n\n").join(parts)


def main():
    parser = argparse.ArgumentParser()
    for name in ("stage", "version", "spdx", "copyright", "built-using"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    stage = pathlib.Path(options.stage)
    commit_file = stage / "usr/lib/roost/commit"
    commit = commit_file.read_text().strip() if commit_file.exists() else "unknown"
    programs, libraries = program_names(stage)
    swift, static = list(swift_packages(programs)), list(static_packages())
    runtime, dynamic = swift_runtime(libraries), dynamic_packages(programs, libraries)
    bill = spdx(stage, options.version, commit, [
        ("Swift", "STATIC_LINK", swift), ("Runtime", "CONTAINS", [runtime]), ("Static", "STATIC_LINK", static),
        ("Dynamic", "DYNAMIC_LINK", dynamic),
    ])
    pathlib.Path(options.spdx).write_text(json.dumps(bill, indent=1) + "\n")
    pathlib.Path(options.copyright).write_text(copyright_text(swift + [runtime] + static))
    used = ", ".join(f"{package['source']} (= {package['source-version']})" for package in static)
    pathlib.Path(getattr(options, "built_using")).write_text(used + "\n")


main()
