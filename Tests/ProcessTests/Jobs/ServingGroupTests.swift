import Contracts
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// roostd in a group of version 2 that was delegated to it, as a systemd unit with `Delegate=` has one.
  @Suite("Programs of jobs in groups of the kernel's")
  struct ServingGroupTests {
    /// A group for one test.
    private struct Place {
      let group: ControlGroup

      /// Where groups can be made: below that of this process, or below the first of all where only those are bounded;
      /// nil where none can be made. Only root can move a process from here to there.
      static let own: ControlGroup? = {
        func text(_ path: String) -> [Substring] {
          String(decoding: SharedFolder.bytes(ofFile: path) ?? [], as: UTF8.self).split(separator: "\n")
        }
        guard let path = text("/proc/self/cgroup").first(where: { $0.hasPrefix("0::/") })?.dropFirst(3),
          let mount = text("/proc/self/mounts").first(where: { $0.contains(" cgroup2 ") })
        else { return nil }
        let first = ControlGroup(path: String(mount.split(separator: " ")[1]))
        let own = path == "/" ? first : ControlGroup(path: first.path + path)
        guard geteuid() == 0 else { return nil }
        return [own, first].first { bounded(below: $0)?.count == 2 } ?? (bounded(below: own) == nil ? nil : own)
      }()

      /// Whether groups here can be bounded, and not only ended.
      static let isBounded = own.flatMap(bounded)?.count == 2

      /// What is bounded in groups below one; nil where none can be made.
      private static func bounded(below group: ControlGroup) -> Set<ControlGroup.Controller>? {
        let trial = group.inner("roost-trial-\(getpid())")
        do throws(SystemFault) {
          try trial.make()
          let controllers = trial.controllers
          try trial.end()
          return controllers
        } catch { return nil }
      }

      init() throws {
        group = try #require(Self.own).inner("roost-serving-\(getpid())-\(UInt32.random(in: 0 ... .max))")
        try group.make()
      }

      /// For `env`: enters the group, and becomes what follows.
      func entrance(_ directory: TemporaryDirectory) throws -> [String] {
        let text = """
          import os, sys
          os.setxattr("\(group.path)", "user.delegate", b"1")
          open("\(group.path)/cgroup.procs", "w").write("0")
          os.execv(sys.argv[1], sys.argv[1:])
          """
        let file = open(directory.path + "/enter.py", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { Descriptors.close(file) }
        try Descriptors.writeAll(text, to: file)
        return ["/usr/bin/python3", directory.path + "/enter.py"]
      }

      var runs: [ControlGroup] { group.inner("jobs-dvm-provider").innerGroups }
    }

    private func run(
      _ script: String, _ keys: [String: String] = [:], _ body: (ServingRig, Place) throws -> Void
    ) throws {
      let place = try Place()
      let directory = try TemporaryDirectory()
      // Its provider may keep a group no longer than it lives.
      defer { do throws(SystemFault) { try place.group.end() } catch { Issue.record(error) } }
      let script = script.replacing("GROUP", with: place.group.path)
      let program = directory.path + "/job"
      let file = open(program, O_WRONLY | O_CREAT | O_CLOEXEC, 0o700)
      try Descriptors.writeAll("#!/bin/sh\n\(script)\n", to: file)
      Descriptors.close(file)
      let job = ["program": "[\"\(program)\"]"].merging(keys) { $1 }
      var layout = ServingRig.layout(jobs: [Int(ServingRig.kind): job])
      layout.environment = try place.entrance(directory)
      try ServingRig.run(layout) { rig in try body(rig, place) }
    }

    private static let missing: Comment = "no group of version 2 can be made here, or not by this user"

    @Test(
      "Each run is in a group of its own, which it cannot leave and which goes with it",
      .enabled(if: Place.own != nil, missing))
    func ownGroup() throws {
      let script = """
        for group in GROUP GROUP/.. GROUP/roostd GROUP/jobs-dvm-provider; do
          ( echo $$ > $group/cgroup.procs ) 2>/dev/null && echo left to $group
          mkdir $group/mine 2>/dev/null && echo made $group/mine
        done
        env -i sleep 600 &
        sleep 600 &
        if grep -q quick; then echo fine; else sleep 600; fi
        """
      try run(script) { rig, place in
        let result = try rig.awaitResult(rig.ask(content: "quick"))
        #expect(result.content.text == "fine")
        try awaitSoon("its group is gone") { place.runs.isEmpty }
        #expect(rig.roost.said.contains("in groups below \(place.group.path)"))
        let doctor = try rig.client.call("supervisor.doctor").terminal.payload
        let checks = try JSONPayload.decode(DoctorResult.self, from: doctor).checks
        #expect(checks.contains { $0.name == "bounds of programs" && $0.isGood && $0.text.contains(place.group.path) })
        #expect(checks.contains { $0.name == "job programs" })
      }
    }

    @Test(
      "What a killed provider leaves is ended, also a child that has emptied its environment",
      .enabled(if: Place.own != nil, missing))
    func killedProvider() throws {
      try run("env -i sleep 600 &\nenv -i sleep 600 &\nsleep 600") { rig, place in
        try rig.ask()
        var processes: [Int32] = []
        try awaitSoon("the program and its children are there") {
          processes = place.runs.first?.processes ?? []
          return processes.count == 4
        }
        let before = try rig.roost.worker("dvm-provider", rig.client).pid
        try rig.kill("dvm-provider")
        try rig.roost.awaitWorker("dvm-provider", "is there again") { $0.state == "ready" && $0.pid != before }
        try awaitSoon("nothing is left of it") {
          place.runs.isEmpty && processes.allSatisfy { Glibc.kill($0, 0) != 0 }
        }
      }
    }

    private static let unbounded: Comment = "groups here have no controllers for memory and processes"

    @Test("Threads beyond the bound are not made, not for a moment", .enabled(if: Place.isBounded, unbounded))
    func threads() throws {
      let script = """
        exec /usr/bin/python3 -c '
        import os, threading, time
        count = 1
        try:
            while count < 1000:
                threading.Thread(target=time.sleep, args=(600,)).start()
                count += 1
        except RuntimeError: pass
        print(count, flush=True)
        os._exit(0)'
        """
      try run(script, ["processes": "8"]) { rig, _ in
        let result = try rig.awaitResult(rig.ask())
        #expect(result.content.text == "8")
      }
    }

    @Test("Memory in sockets beyond the bound ends a program at once", .enabled(if: Place.isBounded, unbounded))
    func socketMemory() throws {
      let script = """
        exec /usr/bin/python3 -c '
        import socket, time
        held = []
        for i in range(120):
            a, b = socket.socketpair()
            a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
            a.setblocking(False)
            held.append((a, b))
            try:
                while True: a.send(b"x" * 65536)
            except BlockingIOError: pass
        time.sleep(600)'
        """
      try run(script, ["memory": "\"32MiB\""]) { rig, _ in
        let reason = try rig.awaitError(rig.ask())
        #expect(reason.contains("bytes of memory"))
      }
    }
  }
}
