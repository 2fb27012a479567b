"""Add a built site to the sites of other versions, and list all for the version switcher.

    python tools/versions.py SITE FOLDER VERSION [--url URL]

Copies SITE to FOLDER/VERSION, replacing what was there; writes FOLDER/versions.json, which the
pages of every version read, and FOLDER/index.html, which leads to the newest release. VERSION is a
release, as 0.2.0, or ``dev``. URL is the address at which FOLDER is published; by default "/".
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from packaging.version import Version

DEVELOPMENT = "dev"
START = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>duramen</title>
<meta http-equiv="refresh" content="0; url={version}/index.html"></head>
<body><a href="{version}/index.html">The documentation of duramen</a></body>
</html>
"""


def listed(folder: Path, url: str) -> list[dict[str, str | bool]]:
    """Return the versions in a folder as the theme reads them: development, then the newest."""
    names = [path.parent.name for path in folder.glob("*/index.html")]
    releases = sorted((name for name in names if name != DEVELOPMENT), key=Version, reverse=True)
    entries: list[dict[str, str | bool]] = []
    if DEVELOPMENT in names:
        entries.append({"name": "development", "version": DEVELOPMENT})
    entries += [{"version": name} for name in releases]
    if releases:
        newest = next((name for name in releases if not Version(name).is_prerelease), releases[0])
        stable = next(entry for entry in entries if entry["version"] == newest)
        stable |= {"name": f"{newest} (stable)", "preferred": True}
    return [entry | {"url": f"{url.rstrip('/')}/{entry['version']}/"} for entry in entries]


def publish(site: Path, folder: Path, version: str, url: str = "/") -> None:
    """Put a site into the folder of all versions, as described above."""
    if version != DEVELOPMENT:
        Version(version)  # raises where it is none
    if not (site / "index.html").is_file():
        raise FileNotFoundError(f"{site} is no built site: it has no index.html; run `make docs`")
    place = folder / version
    if place.exists():
        shutil.rmtree(place)
    shutil.copytree(site, place)
    entries = listed(folder, url)
    (folder / "versions.json").write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    first = next((entry for entry in entries if entry.get("preferred")), entries[0])
    (folder / "index.html").write_text(START.format(version=first["version"]), encoding="utf-8")
    (folder / ".nojekyll").touch()  # GitHub would leave out folders that begin with _


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("version")
    parser.add_argument("--url", default="/")
    publish(**vars(parser.parse_args()))
