#!/usr/bin/env python3
"""Writes an OCI archive of one layer, with nothing but Python's standard library.

    Scripts/image.py --root ROOT.tar --version VERSION --user UID:GID --output FILE

The archive is an image layout (index.json, oci-layout, blobs) in a tar, as podman, skopeo and docker load it. The check
of health is the field that Docker has in this place; the specification of OCI has none, and lets it be.
"""

import argparse
import datetime
import gzip
import hashlib
import io
import json
import os
import platform
import tarfile

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
PART = 1 << 20


class Blobs:
    def __init__(self, archive, seconds):
        self.archive, self.seconds = archive, seconds

    def file(self, name, data):
        info = tarfile.TarInfo(name)
        info.size, info.mtime = len(data), self.seconds
        self.archive.addfile(info, io.BytesIO(data))

    def add(self, media_type, data):
        digest = hashlib.sha256(data).hexdigest()
        self.file(f"blobs/sha256/{digest}", data)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}

    def add_json(self, media_type, value):
        return self.add(media_type, json.dumps(value, separators=(",", ":")).encode())


def compressed(path):
    """The gzipped bytes of a file, and the digest of what is inside."""
    digest, output = hashlib.sha256(), io.BytesIO()
    with open(path, "rb") as source, gzip.GzipFile(fileobj=output, mode="wb", mtime=0) as target:
        while part := source.read(PART):
            digest.update(part)
            target.write(part)
    return output.getvalue(), "sha256:" + digest.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    for name in ("root", "version", "user", "output"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    seconds = int(os.environ["SOURCE_DATE_EPOCH"])
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    layer, inside = compressed(options.root)
    labels = {
        "org.opencontainers.image.title": "roost", "org.opencontainers.image.version": options.version,
        "org.opencontainers.image.description": "Roost, a Nostr daemon", "org.opencontainers.image.licenses": "MIT",
    }
    config = {
        "created": created, "architecture": ARCHITECTURES[platform.machine()], "os": "linux",
        "config": {
            "User": options.user, "Volumes": {"/var/lib/roost": {}}, "WorkingDir": "/var/lib/roost",
            "Env": ["PATH=/usr/bin:/bin", "HOME=/var/lib/roost", "LANG=C.UTF-8"],
            "Entrypoint": ["/usr/bin/roostd"], "Cmd": ["--config", "/etc/roost/supervisor.conf"],
            "StopSignal": "SIGTERM", "Labels": labels,
            # In nanoseconds: every half minute; it may take ten seconds, and begins to count after twenty.
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/roost", "doctor"], "Interval": 30 * 10**9, "Timeout": 10 * 10**9,
                "StartPeriod": 20 * 10**9, "Retries": 3,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [inside]},
        "history": [{"created": created, "created_by": "Scripts/image.sh"}],
    }
    with tarfile.open(options.output, "w") as archive:
        blobs = Blobs(archive, seconds)
        manifest = blobs.add_json("application/vnd.oci.image.manifest.v1+json", {
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": blobs.add_json("application/vnd.oci.image.config.v1+json", config),
            "layers": [blobs.add("application/vnd.oci.image.layer.v1.tar+gzip", layer)], "annotations": labels,
        })
        manifest["annotations"] = {"org.opencontainers.image.ref.name": options.version}
        blobs.file("index.json", json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode())
        blobs.file("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')


main()
