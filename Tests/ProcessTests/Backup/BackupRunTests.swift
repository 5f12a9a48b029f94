import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Backups of a running Roost, by the command line.
  @Suite("A backup of a running Roost")
  struct BackupRunTests {
    /// Every role that keeps files but the push relay, whose settings are many.
    private static func layout(_ relays: [String], state: String? = nil) -> Layout {
      var layout = PlannerRig.layout(relays)
      for (name, keys) in [
        ("mirror", [:]), ("dvm-tracker", [:]), ("local-relay", ["listen": "[\"127.0.0.1:\(freePort())\"]"]),
      ] as [(String, [String: String])] {
        let program = SpawnedProcess.builtProgram(name)
        layout.workers.append(
          Layout.Worker(
            name: name,
            keys: ["role": "\"\(name)\"", "program": "\"\(program)\"", "sandbox": "\"try\""].merging(keys) { $1 }))
      }
      if let state { layout.supervisor["state-directory"] = "\"\(state)\"" }
      return layout
    }

    private static func freePort() -> UInt16 {
      let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(socket) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          _ = bind(socket, $0, size)
          _ = getsockname(socket, $0, &size)
        }
      }
      return UInt16(bigEndian: address.sin_port)
    }

    private static func output(_ program: String, _ arguments: [String]) throws -> String {
      let process = try SpawnedProcess(program, arguments)
      let output = try process.readAllOutput(within: 60)
      #expect(try process.waitForEnd() == .exited(0), "\(arguments): \(output)")
      return output
    }

    /// What belongs to a database or a process, and is made again.
    private static func isMadeAgain(_ path: String) -> Bool {
      ["-wal", "-shm", ".commits", ".first-page", "/lock", "roostd.lock", "/in-hand"].contains { path.hasSuffix($0) }
    }

    private func note(_ author: SecretKey, _ number: Int) throws -> JSONValue {
      let event = UnsignedEvent(
        pubkey: author.publicKey, createdAt: WallClock.seconds - 1_000 + Int64(number), kind: 1, tags: [],
        content: "\(number)"
      ).signed(by: author)
      return try JSONPayload.decode(JSONValue.self, from: event.json)
    }

    private func publish(_ rig: PlannerRig, _ author: SecretKey, _ number: Int, to relay: String) throws {
      let answer = try rig.client.call(
        "plan.publish",
        String(
          decoding: JSONPayload.encode(
            JSONValue.object(["event": try note(author, number), "relays": .array([.string(relay)])])), as: UTF8.self))
      if let refusal = answer.refusal { throw refusal }
    }

    @Test("has every file that a worker keeps, shows one moment amid publishing, and starts elsewhere")
    func restored() throws {
      let author = SecretKey.generate()
      let directory = try TemporaryDirectory()
      let (file, state) = (directory.path + "/backup.tar", directory.path + "/restored")
      let port = Self.freePort()
      let relay = "ws://127.0.0.1:\(port)"
      var (before, after) = (0, 0)
      try withRoost(Self.layout([relay])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let signer = SignerRig(roost: roost, client: rig.client)
        _ = try signer.ask(
          "signer.import",
          SignerImport(name: "alice", secret: try signer.sealed(author.withSecret { Hexadecimal.text(of: $0) })),
          as: SignerAccount.self)
        for number in 0..<200 { try publish(rig, author, number, to: relay) }
        (before, after) = (200, 200)
        let tool = try roost.startTool(["backup", file])
        while !tool.hasEnded() {
          try publish(rig, author, after, to: relay)
          after += 1
        }
        let said = try tool.readAllOutput(within: 60)
        #expect(try tool.waitForEnd() == .exited(0), "\(said)")
        #expect(said.contains("15 files") || said.contains("16 files"), "\(said)")
        let kept = try Self.output("/usr/bin/find", [roost.path("state"), "-type", "f", "-printf", "state/%P\n"])
          .split(separator: "\n").map(String.init).filter { !Self.isMadeAgain($0) && $0 != "" }
        let listed = Set(try Self.output("/usr/bin/tar", ["tf", file]).split(separator: "\n").map(String.init))
        #expect(Set(kept).subtracting(listed) == [], "in no backup")
        for number in after..<(after + 5) { try publish(rig, author, number, to: relay) }
      }
      #expect(try Self.output(SpawnedProcess.builtProgram("roost"), ["backup", "verify", file]).contains("unchanged"))
      _ = try Self.output(
        SpawnedProcess.builtProgram("roost"),
        ["restore", file, "--state", state, "--config", directory.path + "/supervisor.conf"])
      // What was under way goes on: there is a relay now.
      let keeping = try KeepingRelay(port: port)
      try withRoost(Self.layout([relay], state: state)) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let status = try rig.ask("plan.status", NoArguments(), as: PlanStatus.self)
        let published = status.publications.values.reduce(0, +)
        #expect((before...after).contains(published), "\(before) \(published) \(after)")
        let filter = JSONValue.object(["authors": .array([.string("\(author.publicKey)")])])
        // One that was accepted at that moment and not stored yet is stored now.
        try awaitSoon("the store has what the queue has, and nothing else") {
          try rig.ask("store.count", StoreQuery(filters: [filter]), as: StoreCount.self).count == published
        }
        try awaitSoon("all were sent", within: 60) {
          try rig.ask("plan.status", NoArguments(), as: PlanStatus.self).publications["confirmed"] == published
        }
        #expect(try roost.tool(["logs", "outbox-planner"]).output.contains("restored from a backup"))
        let accounts = try rig.ask("signer.accounts", NoArguments(), as: SignerAccounts.self)
        #expect(accounts.accounts.contains { $0.name == "alice" })
      }
      _ = keeping
    }

    @Test("that was killed on its way is no backup; it is continued, or begun again after a worker's death")
    func killed() throws {
      let author = SecretKey.generate()
      let directory = try TemporaryDirectory()
      try withRoost(Self.layout(["ws://127.0.0.1:1"])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        for number in 0..<50 { try publish(rig, author, number, to: "ws://127.0.0.1:1") }
        for (round, dies) in [false, true, false, true].enumerated() {
          let file = "\(directory.path)/\(round).tar"
          let tool = try roost.startTool(["backup", file])
          // Killed when so much is written, or it is complete.
          let wanted = [0, 1, 20_000, 200_000][round]
          try awaitSoon("it has begun") {
            tool.hasEnded() || (SharedFolder.bytes(ofFile: file + ".part")?.count ?? -1) >= wanted
          }
          tool.send(SIGKILL)
          _ = try tool.waitForEnd()
          if dies { try rig.kill("event-store") }
          if access(file, F_OK) != 0 {
            let again = try roost.tool(["backup", file])
            #expect(again.ending == .exited(0), "\(again.output)")
          }
          let verified = try roost.tool(["backup", "verify", file])
          #expect(verified.ending == .exited(0), "\(verified.output)")
        }
        // A worker that is not ready keeps a backup from being made.
        _ = try roost.tool(["hold", "event-store"])
        let held = try roost.tool(["backup", directory.path + "/held.tar"])
        #expect(held.ending == .exited(1) && held.output.contains("event-store is held"), "\(held.output)")
        _ = try roost.tool(["start", "event-store"])
      }
    }

    @Test("is made by the worker at its time, sealed; it keeps so many, runs a program, and touches no other file")
    func scheduled() throws {
      let directory = try TemporaryDirectory()
      let (shelf, secret) = (directory.path + "/shelf", directory.path + "/passphrase")
      mkdir(shelf, 0o700)
      let old = ["roost-2020-01-01T00-00-00Z.tar", "roost-2021-01-01T00-00-00Z.tar", "roost.tar", "notes"]
      for name in old { try Self.write("x", "\(shelf)/\(name)", 0o600) }
      try Self.write("geheim\n", secret, 0o600)
      let program = directory.path + "/carry"
      try Self.write(
        "#!/bin/sh\ncp \"$1\" \(directory.path)/carried.part\nmv \(directory.path)/carried.part \(directory.path)/carried\n",
        program, 0o700)
      var layout = Self.layout(["ws://127.0.0.1:1"])
      layout.workers.append(
        Layout.Worker(
          name: "backup",
          keys: [
            "role": "\"backup\"", "program": "\"\(SpawnedProcess.builtProgram("backup"))\"", "sandbox": "\"try\"",
            "directory": "\"\(shelf)\"", "keep": "2", "passphrase-file": "\"\(secret)\"", "run-after": "\"\(program)\"",
          ]))
      try withRoost(layout) { roost in
        try awaitSoon("a backup was made and carried away", within: 60) {
          access(directory.path + "/carried", F_OK) == 0
        }
        let names = try Self.output("/bin/ls", [shelf]).split(separator: "\n").map(String.init)
        let made = try #require(names.first { $0.hasSuffix(".sealed") })
        #expect(Set(names) == ["roost-2021-01-01T00-00-00Z.tar", "roost.tar", "notes", made])
        let verified = try roost.tool(["backup", "verify", directory.path + "/carried", "--passphrase-file", secret])
        #expect(verified.ending == .exited(0), "\(verified.output)")
        let status = try roost.tool(["backup", "status"])
        #expect(status.ending == .exited(0) && status.output.contains("2 backups in \(shelf)"), "\(status.output)")
        #expect(status.output.contains(made) && status.output.contains("next: "), "\(status.output)")
      }
    }

    private static func write(_ text: String, _ path: String, _ mode: mode_t) throws {
      let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
      try Descriptors.writeAll(text, to: file)
      Descriptors.close(file)
    }
  }
}
