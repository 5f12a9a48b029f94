#!/usr/bin/env python3
"""Draws the pictures of README from a run of what is built: docs/images. `make pictures` runs it in .venv-site.

    Scripts/pictures.py [terminal|page]…        both without one

    terminal.svg       what `roost` prints at a terminal of 88 columns, with its colours
    status-page.png    the beginning of the status page in Debian's chromium

Two Roosts are started in a temporary folder, from .build/release or, without one, .build/debug. The local relay of the
first is the only relay of the second, whose owner is alice; what her friends wrote is signed and published there. No
address outside of this machine is used, and everything is removed at the end.

Exit: 0 drawn, 75 without a build, the environment, or (for the page) chromium.
"""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
IMAGES = os.path.join(ROOT, "docs", "images")
COLUMNS = 88
HOUR = 3_600

PEOPLE = {"bob": "Bob", "carol": "Carol", "dan": "Dan"}
# Who wrote what, so many hours ago.
NOTES = [
    ("bob", 30, "The bread recipe is up: flour, water, salt, and a day of patience."),
    ("carol", 21, "Three herons at the pond this morning. One of them looked at me as if I owed it a fish."),
    ("dan", 9, "Moved my relay to the new machine. Nothing was lost."),
    ("carol", 5, "Pumpkin soup for forty people. I need a larger pot."),
    ("bob", 2, "Out of the oven: two loaves, and one of them is for you."),
]

# rich's own drawing of a terminal, without its font from another host.
FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<title>Roost at a terminal</title>
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, "DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px;
  line-height: {line_height}px;
}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def free_port(wanted=None):
    """The wanted port if it is free, else another."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", wanted or 0))
        except OSError:
            probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def programs():
    for build in ("release", "debug"):
        folder = os.path.join(ROOT, ".build", build)
        if os.access(os.path.join(folder, "roostd"), os.X_OK) and os.access(os.path.join(folder, "mirror"), os.X_OK):
            return folder
    print("pictures: no build; type 'make build'", file=sys.stderr)
    sys.exit(75)


class Roost:
    """A Roost with the shipped configuration, but for its addresses and relays."""

    def __init__(self, folder, relays, port=None):
        self.folder, self.programs = folder, programs()
        self.port, self.page = free_port(port), free_port()
        os.makedirs(folder)
        with open(os.path.join(ROOT, "supervisor.conf"), encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"^(relays|indexers) = \[.*?\]", r"\1 = []", text, flags=re.M | re.S)
        text = re.sub(r"^relays = \[\]", f"relays = {json.dumps(relays)}", text, count=1, flags=re.M)
        text = text.replace('#listen = ["127.0.0.1:4869", "[::1]:4869"]', f'listen = ["127.0.0.1:{self.port}"]')
        text = text.replace('#listen = "127.0.0.1:4868"', f'listen = "127.0.0.1:{self.page}"')
        text = text.replace('#program-directories = [".build/release"]', f'program-directories = ["{self.programs}"]')
        with open(os.path.join(folder, "supervisor.conf"), "w", encoding="utf-8") as file:
            file.write(text)
        self.environment = {
            "PATH": f"{self.programs}:/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8",
            "ROOST_SOCKET": os.path.join(folder, "run", "roost.sock")}
        with open(os.path.join(folder, "roostd.out"), "wb") as output:
            self.daemon = subprocess.Popen(
                [os.path.join(self.programs, "roostd"), "--config", "supervisor.conf"], cwd=folder, stdout=output,
                stderr=output, env=self.environment)

    def run(self, *arguments, text=None):
        done = subprocess.run(
            [os.path.join(self.programs, "roost"), *arguments], env=self.environment, cwd=self.folder, input=text,
            capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise RuntimeError(f"roost {' '.join(arguments)}: {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def await_ready(self):
        wait(lambda: os.path.exists(self.environment["ROOST_SOCKET"]), "roostd listens")
        wait(lambda: all(worker["state"] in ("ready", "stopped")
                         for worker in json.loads(self.run("status", "--json"))["workers"]), "all workers are ready")

    def stop(self):
        self.daemon.send_signal(signal.SIGTERM)
        self.daemon.wait(60)


def wait(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if condition():
                return
        except (RuntimeError, ValueError):
            pass  # it is not there yet
        time.sleep(0.1)
    raise RuntimeError(f"not within {seconds} s: {what}")


def signed(world, account, event):
    answer = json.loads(world.run("call", "signer.sign", json.dumps({"account": account, "event": event})))
    return answer["event"]


def populate(world, now):
    """The friends of alice, and what they wrote."""
    events, keys = [], {}
    for name, shown in PEOPLE.items():
        world.run("key", "generate", name, "--no-passphrase")
        content = json.dumps({"name": name, "display_name": shown})
        profile = {"kind": 0, "created_at": now - 90 * HOUR, "content": content}
        events.append(signed(world, name, profile))
        keys[name] = events[-1]["pubkey"]
    for name, hours, text in NOTES:
        events.append(signed(world, name, {"kind": 1, "created_at": now - hours * HOUR, "content": text}))
    world.run("import", "-", text="".join(json.dumps(event) + "\n" for event in events))
    return keys


def alice(home, world, keys):
    """The owner: new here, with a profile and lists, and her friends followed."""
    home.run("setup", "--new", "--name", "alice", "--display-name", "Alice", "--no-passphrase", "--yes", "--no-wait")
    home.run("follow", *keys.values())
    wait(lambda: len(home.run("query", "-k", "1").splitlines()) == len(NOTES), "the notes have come")


# The terminal


def typed(home, command):
    """What a command prints at a terminal, with its colours."""
    pid, terminal = pty.fork()
    if pid == 0:
        environment = dict(home.environment, TERM="xterm-256color", COLUMNS=str(COLUMNS))
        os.chdir(home.folder)
        os.execve("/bin/bash", ["bash", "-c", command], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    output, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                piece = os.read(terminal, 65_536)
            except OSError:
                break  # the terminal of a process that has ended
            if not piece:
                break
            output += piece
    os.close(terminal)
    os.waitpid(pid, 0)
    return output.decode().replace("\r\n", "\n")


def draw_terminal(home, path):
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    theme = TerminalTheme(
        (24, 26, 32), (214, 218, 226),
        [(60, 64, 72), (240, 113, 120), (150, 208, 120), (240, 198, 110), (110, 170, 250), (205, 147, 232),
         (100, 205, 214), (214, 218, 226)],
        [(130, 136, 148), (250, 140, 146), (176, 226, 148), (250, 214, 140), (142, 192, 255), (222, 174, 244),
         (136, 224, 232), (245, 247, 250)])
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w", encoding="utf-8"), force_terminal=True,
                      color_system="truecolor", legacy_windows=False)
    for command in COMMANDS:
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        console.print(Text.from_ansi(typed(home, command).rstrip("\n")), soft_wrap=True)
        if command != COMMANDS[-1]:
            console.print()
    os.makedirs(IMAGES, exist_ok=True)
    console.save_svg(path, title="alice", theme=theme, code_format=FORMAT, unique_id="roost")


# The page


def draw_page(home, path):
    arguments = [
        "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,430",
        f"--user-data-dir={home.folder}/chromium", f"--screenshot={path}", f"http://127.0.0.1:{home.port}/"]
    subprocess.run(arguments, check=True, capture_output=True, timeout=120)


COMMANDS = [
    "roost",
    "roost feed --limit 3 --no-follow",
    "roost publish --content 'Good morning from my own machine.'",
    "roost query --search soup | jq -r .content",
]


def main():
    wanted = sys.argv[1:] or ["terminal", "page"]
    try:
        import rich  # noqa: F401 - only whether it is there
    except ImportError:
        print("pictures: no rich; type 'make pictures', which makes .venv-site", file=sys.stderr)
        return 75
    if "page" in wanted and not shutil.which("chromium"):
        print("pictures: no chromium, so no picture of the page", file=sys.stderr)
        wanted.remove("page")
    with tempfile.TemporaryDirectory(prefix="roost-pictures-") as folder:
        world = Roost(os.path.join(folder, "world"), [])
        homes = [world]
        try:
            world.await_ready()
            keys = populate(world, int(time.time()))
            home = Roost(os.path.join(folder, "home"), [f"ws://127.0.0.1:{world.port}"], port=4869)
            homes.append(home)
            home.await_ready()
            alice(home, world, keys)
            if "terminal" in wanted:
                draw_terminal(home, os.path.join(IMAGES, "terminal.svg"))
            if "page" in wanted:
                draw_page(home, os.path.join(IMAGES, "status-page.png"))
        finally:
            for each in reversed(homes):
                each.stop()
    return 0 if "page" in wanted or "terminal" in wanted else 75


if __name__ == "__main__":
    sys.exit(main())
