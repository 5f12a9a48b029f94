#!/usr/bin/env python3
"""Gives the only image of an OCI layout a name and a health check: Scripts/image-health.py LAYOUT NAME:TAG

The OCI format has no health check. Docker writes its own, `Healthcheck`, into configurations of that format too, and
reads it there; other programs ignore it.
"""
import hashlib
import json
import pathlib
import sys

HEALTH = {
    "Test": ["CMD", "roost", "doctor"],
    # In nanoseconds. A damaged database may take minutes to be rescued.
    "Interval": 60_000_000_000,
    "Timeout": 30_000_000_000,
    "StartPeriod": 120_000_000_000,
    "Retries": 3,
}
layout, name = pathlib.Path(sys.argv[1]), sys.argv[2]


def read(descriptor):
    """The JSON of a blob."""
    return json.loads((layout / "blobs" / descriptor["digest"].replace(":", "/")).read_bytes())


def write(descriptor, value):
    """Puts another blob in the place of a descriptor's."""
    content = json.dumps(value, sort_keys=True).encode()
    digest = hashlib.sha256(content).hexdigest()
    (layout / "blobs/sha256" / digest).write_bytes(content)
    descriptor.update(digest=f"sha256:{digest}", size=len(content))


index = json.loads((layout / "index.json").read_bytes())
image, = index["manifests"]
manifest = read(image)
configuration = read(manifest["config"])
configuration["config"]["Healthcheck"] = HEALTH
write(manifest["config"], configuration)
manifest["mediaType"] = image["mediaType"]
write(image, manifest)
image["annotations"] = {"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
(layout / "index.json").write_text(json.dumps(index))
