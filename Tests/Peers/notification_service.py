#!/usr/bin/python3
"""A desktop's service for notices (org.freedesktop.Notifications) on a session bus of its own, by GLib.

    notification_service.py DIRECTORY [--abstract]

Starts dbus-daemon with a socket in DIRECTORY, or with an abstract one. Prints the bus's address, and then each notice
as a line of JSON, {"app","title","body"}. Ends when standard input does. With --probe it only says whether it could.
"""

import json
import os
import subprocess
import sys
import threading

if "--probe" in sys.argv:
    try:
        import gi  # noqa: F401
    except ImportError:
        sys.exit("no gi")
    found = all(os.access(f"/usr/bin/{name}", os.X_OK) for name in ("notify-send", "dbus-daemon"))
    sys.exit(0 if found else "no D-Bus")

from gi.repository import Gio, GLib

INTERFACE = """<node><interface name="org.freedesktop.Notifications">
<method name="GetCapabilities"><arg type="as" direction="out"/></method>
<method name="GetServerInformation">
  <arg type="s" direction="out"/><arg type="s" direction="out"/><arg type="s" direction="out"/>
  <arg type="s" direction="out"/>
</method>
<method name="Notify">
  <arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
  <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/>
  <arg type="a{sv}" direction="in"/><arg type="i" direction="in"/><arg type="u" direction="out"/>
</method>
</interface></node>"""


def called(_connection, _sender, _path, _interface, method, arguments, invocation):
    if method == "GetCapabilities":
        return invocation.return_value(GLib.Variant("(as)", (["body", "body-markup"],)))
    if method == "GetServerInformation":
        return invocation.return_value(GLib.Variant("(ssss)", ("test", "roost", "1", "1.2")))
    app, _, _, title, body = arguments.unpack()[:5]
    print(json.dumps({"app": app, "title": title, "body": body}), flush=True)
    invocation.return_value(GLib.Variant("(u)", (1,)))


def main():
    directory = sys.argv[1]
    kind = f"unix:abstract={directory}/bus" if "--abstract" in sys.argv else f"unix:path={directory}/bus"
    command = ["/usr/bin/dbus-daemon", "--session", "--nofork", "--print-address=1", f"--address={kind}"]
    daemon = subprocess.Popen(
        # Ends with this process, however that ends.
        ["/usr/bin/setpriv", "--pdeathsig", "TERM", *command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = daemon.stdout.readline().strip()
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        connection = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
        interface = Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0]
        connection.register_object("/org/freedesktop/Notifications", interface, called, None, None)
        loop = GLib.MainLoop()
        Gio.bus_own_name_on_connection(
            connection, "org.freedesktop.Notifications", Gio.BusNameOwnerFlags.NONE,
            lambda *_: print(address, flush=True), lambda *_: loop.quit())
        threading.Thread(target=lambda: (sys.stdin.read(), loop.quit()), daemon=True).start()
        loop.run()
    finally:
        daemon.terminate()


main()
