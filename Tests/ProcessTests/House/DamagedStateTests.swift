import Clocks
import Contracts
import Frames
import Glibc
import LinuxSystem
import Nostr
import Storage
import TestSupport
import Testing

extension ProcessTests {
  /// A whole Roost over a state directory that a failing disk has had.
  @Suite("Damage to the state directory")
  struct DamagedStateTests {
    private static func layout() throws -> Layout {
      var layout = ServingRig.layout()
      for (name, keys) in [
        ("relay-connector", ["ephemeral": "true"]), ("outbox-planner", [:]), ("dvm-tracker", [:]),
        ("local-relay", ["listen": "[\"127.0.0.1:\(try RelayVisitor.freePort())\"]"]),
      ] {
        var worker = Layout.Worker(name: name)
        worker.keys = [
          "role": "\"\(name)\"", "program": "\"\(SpawnedProcess.builtProgram(name))\"", "sandbox": "\"try\"",
        ]
        worker.keys.merge(keys) { _, new in new }
        layout.workers.append(worker)
      }
      return layout
    }

    private static let files = [
      "event-store/events.db", "outbox-planner/publications.db", "outbox-planner/relays.db",
      "outbox-planner/replaced.db", "outbox-planner/beliefs.db", "dvm-tracker/jobs.db",
      "dvm-provider/served-jobs.db", "local-relay/origins.db", "local-relay/accounts.db",
      "local-relay/figures.db",
    ]

    private func stop(_ roost: RunningRoost) throws {
      roost.daemon.send(SIGTERM)
      #expect(try roost.daemon.waitForEnd() == .exited(0))
    }

    private static func use(_ rig: ServingRig, _ round: Int) throws {
      func call(_ method: String, _ payload: String) throws {
        let answer = try rig.client.call(method, payload)
        #expect(answer.isResponse, "\(method): \(answer.text)")
      }
      try call("plan.relays.add", #"{"relay":"ws://127.0.0.1:\#(20_000 + round)"}"#)
      try call("local.allow", #"{"origin":"https://page\#(round).example"}"#)
      for event in makeEvents(round * 10..<round * 10 + 8) {
        try call("plan.publish", #"{"event":\#(String(decoding: event.json, as: UTF8.self))}"#)
      }
      if round == 0 { try call("signer.generate", #"{"name":"alice"}"#) }
      try call("job.submit", #"{"kind":5302,"key":"key \#(round)","params":[["search","hello"]]}"#)
      try rig.awaitResult(rig.ask(5_400, content: #"[{"kinds":[1]}]"#))
    }

    @Test(
      "Every worker starts, whatever is damaged, and what is lost is told",
      arguments: seeds(amount("ROOST_DAMAGE_ROUNDS", standard: 2)))
    func damage(seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      try ServingRig.run(try Self.layout()) { rig in
        let roost = rig.roost
        try Self.use(rig, 0)
        for isKilled in [false, true] {
          if isKilled { try roost.killDaemonAndWorkers() } else { try stop(roost) }
          var struck: [String] = []
          for file in Self.files {
            let damage = Damage.allCases.randomElement(using: &random) ?? .cutOff
            let path = roost.directory.path + "/state/" + file
            let isLog = isKilled && Bool.random(using: &random)
            damage.strike(isLog ? path + "-wal" : path, &random)
            struck.append("\(damage) of \(file)\(isLog ? "-wal" : "")")
          }
          try roost.startAgain()
          do { try roost.awaitReady() } catch {
            Issue.record("\(error); after \(struck)")
            throw error
          }
          let again = try ServingRig(roost)
          for worker in try roost.status(again.client).workers { #expect(worker.state == "ready", "\(struck)") }
          // Who has put a file aside says so, as long as it lies there.
          let doctor = try again.client.call("supervisor.doctor").text
          for file in Self.files where !file.hasPrefix("event-store") {
            if try !Self.notes(of: file, in: roost).isEmpty { #expect(doctor.contains(file.split(separator: "/")[1])) }
          }
          try Self.use(again, isKilled ? 2 : 1)
        }
      }
    }

    @Test("However often a ledger was damaged, the doctor names every ledger once, with its last loss")
    func everyLedger() throws {
      try ServingRig.run(try Self.layout()) { rig in
        for file in Self.files.dropFirst() {
          for time in 1...10 {
            let path = "\(rig.roost.directory.path)/state/\(file).missing-\(1_700_000_000 + time)"
            let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try Descriptors.writeAll("loss \(time)", to: descriptor)
            Descriptors.close(descriptor)
          }
        }
        let answer = try rig.client.call("supervisor.doctor").terminal.payload
        let checks = try JSONPayload.decode(DoctorResult.self, from: answer).checks.filter { $0.name == "ledgers" }
        #expect(checks.count == Self.files.count - 1)
        for file in Self.files.dropFirst() {
          let told = checks.filter { $0.text.contains("\(file).missing-1700000010; of 9 earlier losses") }
          #expect(told.count == 1 && told[0].text.contains("loss 10"), "\(checks.map(\.text))")
        }
      }
    }

    /// What a worker has put aside, or written down, of a file.
    private static func notes(of file: String, in roost: RunningRoost) throws -> [String] {
      let parts = file.split(separator: "/")
      guard let folder = opendir("\(roost.directory.path)/state/\(parts[0])") else { return [] }
      defer { closedir(folder) }
      var names: [String] = []
      while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name.hasPrefix("\(parts[1]).damaged-") || name.hasPrefix("\(parts[1]).missing-") { names.append(name) }
      }
      return names
    }

    @Test(
      "On a full disk workers that restart try again, and all are ready when there is room",
      .enabled(if: TemporaryDisk.isPossible, "needs root, for a disk of its own"))
    func fullDisk() throws {
      let disk = try TemporaryDisk(byteCount: 24 << 20)
      var layout = try Self.layout()
      layout.supervisor["state-directory"] = "\"\(disk.path)/state\""
      try ServingRig.run(layout) { rig in
        #expect(try rig.client.call("plan.relays.add", #"{"relay":"ws://127.0.0.1:20000"}"#).isResponse)
        for event in makeEvents(0..<8) {
          let text = String(decoding: event.json, as: UTF8.self)
          #expect(try rig.client.call("plan.publish", #"{"event":\#(text)}"#).isResponse)
        }
        let names = ["event-store", "outbox-planner", "dvm-tracker", "dvm-provider", "local-relay"]
        for _ in 0..<4 {
          for name in names { try rig.kill(name) }
          // Pages that the dead gave back are somebody else's at once.
          let end = Monotonic.seconds + 1.5
          while Monotonic.seconds < end {
            disk.fill()
            usleep(500)
          }
          for worker in try rig.roost.status(rig.client).workers {
            #expect(worker.state != "failed", "\(worker.name): \(worker.lastExit ?? "")")
          }
        }
        disk.empty()
        try rig.roost.awaitReady()
      }
    }
  }
}
