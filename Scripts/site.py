#!/usr/bin/env python3
"""Makes a site of README.md and docs/: .build-site/site/index.html. `make site` runs it in its environment, .venv-site.

    Scripts/site.py [FOLDER]        FOLDER in place of .build-site

README is the first page. Sphinx reads the pages as CommonMark (myst-parser), and the site is read without a server too:
its search is a script of its own, and no page takes a font, style or script from another host. A page that the
navigation does not name, a link inside the checkout that leads nowhere, and an anchor that does not exist are errors;
addresses on the net are only checked for their form.

Exit: 0 made, 1 a page is wrong, 75 without its environment.
"""

import html.parser
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REPOSITORY_PAGES = {"CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md", "SUPPORT.md": "support.md"}

# The order of the pages. `*` are all further pages of a folder, in the order of their names.
NAVIGATION = [
    ("Begin", ["install", "connect", "recipes", "troubleshooting", "security-model", "support"]),
    ("Use", ["command-line", "links", "backup", "operations", "supervision", "debugging"]),
    ("Programs", ["bus", "python", "mcp", "client", "methods", "protocol", "protocol-worker", "protocol-credit",
                  "push-api", "push-nostr", "recordings"]),
    ("Workers", ["workers/*"]),
    ("Inside", ["architecture", "architecture-inside", "outbox-method", "foreign-addresses", "benchmarks",
                "benchmarks-findings", "glossary"]),
    ("Change Roost", ["contributing", "style", "changelog", "security", "decisions/index"]),
]

CONFIGURATION = """
project = "Roost"
html_title = "Roost {version}"
extensions = ["myst_parser"]
html_theme = "furo"
html_static_path = []
html_copy_source = False
html_show_sphinx = False
html_extra_path = ["extra"]
myst_heading_anchors = 4
# Blocks of JSON have "…" where something is left out, which its lexer does not know.
suppress_warnings = ["misc.highlighting_failure"]
pygments_style = "friendly"
pygments_dark_style = "monokai"


def setup(app):
    from pygments.lexers.data import JsonLexer

    app.add_lexer("jsonc", JsonLexer)
"""


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def write(path, text):
    """Writes a file, unless it is so already: Sphinx reads again what has a newer date."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def rewritten(text, folder, files):
    """A page's links as they are in the site; what they name outside of docs/ is added to `files`.

    `folder` is where the page is, from the root of the checkout.
    """
    def link(match):
        target, hash_, anchor = match.group(2).partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match.group(0)
        path = os.path.normpath(os.path.join(folder, target))
        if path == "docs/decisions":
            path = "docs/decisions/index.md"
        if path in REPOSITORY_PAGES:
            place = REPOSITORY_PAGES[path]
        elif path == "README.md":
            place = "index.md"
        elif path.startswith("docs/"):
            place = path[len("docs/"):]
        else:
            # A file that is shown as it is: an example, the licence.
            place = path
            files.add(path)
        here = folder[len("docs"):].strip("/") if folder.startswith("docs") else ""
        return f"{match.group(1)}{os.path.relpath(place, here or '.')}{hash_}{anchor})"

    return outside_code(text, lambda prose: re.sub(r"(\]\()([^)\s]+)\)", link, prose))


def outside_code(text, change):
    """Changes what is neither in a block with fences nor between backticks."""
    parts = re.split(r"(^ *```.*?^ *```$|`[^`\n]+`)", text, flags=re.M | re.S)
    # A link whose text has backticks is prose all the same.
    kept = {}
    for index, part in enumerate(parts):
        if index % 2:
            kept[f"\0{index}\0"] = part
    prose = change("".join(part if not index % 2 else f"\0{index}\0" for index, part in enumerate(parts)))
    return re.sub("\0\\d+\0", lambda match: kept[match.group(0)], prose)


def stage(source):
    """Copies the pages into `source`, with their links changed, and the navigation behind the first page."""
    files = set()
    pages = {}
    for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
        inside = os.path.relpath(folder, ROOT)
        for name in names:
            path = os.path.join(inside, name)
            if name.endswith(".md"):
                pages[path[len("docs/"):]] = rewritten(read(path), inside, files)
            else:
                place = os.path.join(source, path[len("docs/"):])
                os.makedirs(os.path.dirname(place), exist_ok=True)
                shutil.copyfile(os.path.join(ROOT, path), place)
    for path, place in REPOSITORY_PAGES.items():
        pages[place] = rewritten(read(path), "", files)
    pages["decisions/index.md"] = decisions(pages)
    pages["index.md"] = rewritten(read("README.md"), "", files) + navigation(pages)
    for place, text in pages.items():
        write(os.path.join(source, place), text)
    for folder, _, names in os.walk(source):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".md") and os.path.relpath(path, source) not in pages:
                os.remove(path)
    for path in files:
        for base in (os.path.join(source, path), os.path.join(source, "extra", path)):
            os.makedirs(os.path.dirname(base), exist_ok=True)
            shutil.copyfile(os.path.join(ROOT, path), base)
    os.makedirs(os.path.join(source, "extra"), exist_ok=True)
    version = re.search(r'static let text = "([^"]+)"', read("Sources/Bus/Contracts/RoostVersion.swift"))
    write(os.path.join(source, "conf.py"), CONFIGURATION.format(version=version.group(1)))


def decisions(pages):
    names = sorted(name for name in pages if name.startswith("decisions/"))
    lines = [f"- [{pages[name].splitlines()[0].lstrip('# ')}]({os.path.basename(name)})" for name in names]
    tree = "\n".join(os.path.basename(name)[:-3] for name in names)
    return (
        "# Decisions\n\nWhat was chosen, and which alternatives were rejected.\n\n" + "\n".join(lines)
        + f"\n\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{tree}\n```\n")


def navigation(pages):
    text = ""
    for caption, entries in NAVIGATION:
        named = []
        for entry in entries:
            if entry.endswith("/*"):
                named += sorted(name[:-3] for name in pages if name.startswith(entry[:-1]))
            else:
                named.append(entry)
        text += f"\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n:caption: {caption}\n\n" + "\n".join(named) + "\n```\n"
    return text


class Links(html.parser.HTMLParser):
    """What a built page points to, what it loads, and the places in it."""

    def __init__(self):
        super().__init__()
        self.targets, self.loaded, self.ids = [], [], set()

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if "id" in named:
            self.ids.add(named["id"])
        if tag == "a" and named.get("href"):
            self.targets.append(named["href"])
        elif tag == "link" and named.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(named["href"])
        elif "src" in named:
            self.loaded.append(named["src"])


def faults(site):
    """What is wrong with the built site, a line each."""
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                pages[path] = Links()
                with open(path, encoding="utf-8") as file:
                    pages[path].feed(file.read())
    for path, links in sorted(pages.items()):
        here = os.path.relpath(path, site)
        for target in links.loaded + links.targets:
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc:
                is_loaded = target in links.loaded and url.scheme != "data"
                is_odd = url.scheme not in ("https", "http", "mailto", "data") or " " in target
                if is_loaded or is_odd or (url.scheme.startswith("http") and "." not in url.netloc):
                    yield f"{here}: {'loads' if is_loaded else 'has the address'} {target}"
                continue
            file = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(url.path)))
            if not url.path:
                file = path
            if not os.path.isfile(file):
                yield f"{here}: links to {target}, which is not there"
            elif url.fragment and file in pages and urllib.parse.unquote(url.fragment) not in pages[file].ids:
                yield f"{here}: links to {target}; the page has no such place"


def main():
    out = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, ".build-site"))
    try:
        import furo, myst_parser, sphinx  # noqa: E401, F401 - only whether they are there
    except ImportError as error:
        print(f"site: {error}; type 'make site', which makes .venv-site", file=sys.stderr)
        return 75
    source, site = os.path.join(out, "pages"), os.path.join(out, "site")
    stage(source)
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-j", "2", "-d",
         os.path.join(out, "doctrees"), source, site], check=False)
    if built.returncode:
        # What was read without a fault would not be looked at the next time, and the fault not seen.
        shutil.rmtree(out)
        return 1
    wrong = list(faults(site))
    for line in wrong:
        print(line, file=sys.stderr)
    if not wrong:
        print(f"{os.path.relpath(site)}/index.html")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
