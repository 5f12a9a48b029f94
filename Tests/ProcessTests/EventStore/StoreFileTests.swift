import Contracts
import Cryptography
import Glibc
import Nostr
import Storage
import TestSupport
import Testing

extension ProcessTests {
  /// The event-store's file: its size, damage, and what is in it after a stop.
  @Suite("The file of the event store")
  struct StoreFileTests {
    @Test("Above the size limit the oldest events go, and what was published here stays")
    func retention() throws {
      var layout = Layout.store
      layout.workers[0].keys["size-limit"] = "\"16MiB\""
      try withRoost(layout) { roost in
        let store = try StoreClient(roost)
        let published = makeEvents(0..<1)[0]
        #expect(try store.publish(published).isResponse)
        let author = SecretKey.generate()
        let text = String(repeating: "text ", count: 5_000)
        for start in stride(from: 0, to: 1_200, by: 20) {
          let run = (start..<start + 20).map {
            UnsignedEvent(
              pubkey: author.publicKey, createdAt: 1_700_000_100 + Int64($0), kind: 1, tags: [],
              content: "\($0) \(text)"
            ).signed(by: author).json
          }
          #expect(try store.peer.answer(to: try store.importRun(run), within: 60).isResponse)
        }
        try awaitSoon("room is made", within: 30) {
          let status = try store.status()
          return status.evicted > 0 && status.usedBytes <= status.limitBytes ?? 0
        }
        let status = try store.status()
        #expect(status.limitBytes == 16 << 20 && status.isFull == nil)
        let found = try store.query("{}")
        #expect(found.last == String(decoding: published.json, as: UTF8.self))
        #expect(found.first?.contains("1199 text") == true && found.count < 700)
        let logs = try store.peer.call("supervisor.logs", #"{"worker":"event-store"}"#)
        #expect((logs.parts.map(\.text) + [logs.text]).joined().contains("removing the oldest events"))
      }
    }

    @Test("A damaged database is put aside, and what can be read of it is there again")
    func damaged() throws {
      try withRoost(.store) { roost in
        let store = try StoreClient(roost)
        let events = makeEvents(0..<2_000)
        _ = try store.peer.answer(to: try store.importRun(events[..<1_000].map(\.json)), within: 60)
        _ = try store.peer.answer(to: try store.importRun(events[1_000...].map(\.json)), within: 60)
        _ = try store.peer.call("supervisor.stop", #"{"worker":"event-store"}"#)
        let path = roost.directory.path + "/state/event-store/events.db"
        try overwrite(path)
        _ = try store.peer.call("supervisor.start", #"{"worker":"event-store"}"#)
        try roost.awaitReady()
        // Where the damage is met at once the store starts with a new file; else a query meets it, and the next start
        // does.
        let first = try store.peer.call("store.count", #"{"filters":[{}]}"#)
        if !first.isResponse { try roost.awaitReady() }
        try awaitSoon("it is answered again", within: 30) {
          try store.peer.call("store.count", #"{"filters":[{}]}"#).isResponse
        }
        let saved = try store.query("{}")
        #expect(saved.count > 500 && saved.count < 2_000, "\(saved.count) saved")
        let known = Set(events.map { String(decoding: $0.json, as: UTF8.self) })
        #expect(known.isSuperset(of: saved))
        let logs = try store.peer.call("supervisor.logs", #"{"worker":"event-store"}"#)
        #expect((logs.parts.map(\.text) + [logs.text]).joined().contains("was put aside"))
        // It is told until the damaged file is removed, also after another start.
        _ = try store.peer.call("supervisor.restart", #"{"worker":"event-store"}"#)
        try roost.awaitReady()
        let rescue = try #require(try store.status().rescued)
        #expect(rescue.saved == saved.count && rescue.lost == 2_000 - saved.count)
        try awaitSoon("roost status says so", within: 30) {
          try store.peer.call("supervisor.status").text.contains("was damaged: \(saved.count) events saved")
        }
        let doctor = try roost.command(["doctor"])
        #expect(doctor.status == .exited(1) && doctor.output.contains("damaged-"), "\(doctor.output)")
        #expect(rescue.aside.hasPrefix(path) && unlink(rescue.aside) == 0)
        #expect(try store.status().rescued == nil)
        let later = try roost.command(["doctor"])
        #expect(later.output.contains("none known to be lost"), "\(later.output)")
      }
    }

    /// Writes nonsense over a piece in the middle of a file.
    private func overwrite(_ path: String) throws {
      // Closed in order, the whole of it is in the one file.
      try StorageFile(path: path, StorageSettings(durability: .full), migrations: []).close()
      let file = open(path, O_RDWR)
      #expect(file >= 0)
      defer { close(file) }
      let size = lseek(file, 0, SEEK_END)
      let nonsense = [UInt8](repeating: 0xA5, count: 64 << 10)
      #expect(pwrite(file, nonsense, nonsense.count, size / 2 / 4_096 * 4_096) == nonsense.count)
    }

    @Test("After a stop in order the whole database is in one file")
    func oneFile() throws {
      try withRoost(.store) { roost in
        let path = roost.directory.path + "/state/event-store/events.db"
        let store = try StoreClient(roost)
        for event in makeEvents(0..<20) { #expect(try store.publish(event).isResponse) }
        #expect(SharedFolder.bytes(ofFile: path + "-wal")?.isEmpty == false)
        #expect(try store.peer.call("supervisor.stop", #"{"worker":"event-store"}"#).isResponse)
        #expect(SharedFolder.bytes(ofFile: path + "-wal")?.isEmpty != false)
        #expect((SharedFolder.bytes(ofFile: path)?.count ?? 0) > 100_000)
      }
    }

    @Test("A database of a later version is refused, and left as it is")
    func newer() throws {
      try withRoost(.store) { roost in
        let client = try roost.client()
        _ = try client.call("supervisor.stop", #"{"worker":"event-store"}"#)
        let path = roost.directory.path + "/state/event-store/events.db"
        let file = try StorageFile(
          path: path, StorageSettings(durability: .full), migrations: [StorageMigration(version: 1_000, "")])
        try file.close()
        _ = try client.call("supervisor.start", #"{"worker":"event-store"}"#)
        try roost.awaitWorker("event-store", "has failed", within: 20, client) { $0.state == "failed" }
        let why = try client.call("supervisor.why", #"{"worker":"event-store"}"#).text
        #expect(why.contains("78"), "\(why)")
      }
    }
  }
}
