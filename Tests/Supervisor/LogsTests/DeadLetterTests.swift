import Contracts
import EventLoop
import Glibc
import LinuxSystem
import Logs
import TestSupport
import Testing

@Suite("Dead letters") struct DeadLetterTests {
  @Test("are kept in files of their own, sorted by time, and come back as they were")
  func roundTrip() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path + "/dead-letters"] () async throws in
      let noon = WallTime(milliseconds: 1_772_366_400_000)
      let store = DeadLetterStore(directory: path) { noon }
      let first = try await store.keep(letter("one"))
      let second = try await store.keep(letter("two \0 ä"))
      let third = try await store.keep(letter("three"))
      #expect(first.id == "20260301T120000000-000001" && first.removed.isEmpty)
      #expect(first.id < second.id && second.id < third.id)
      #expect(try SystemFiles().names(in: path).sorted() == [first, second, third].map { $0.id + ".json" })
      var status = stat()
      #expect(stat("\(path)/\(first.id).json", &status) == 0 && status.st_mode & 0o777 == 0o600)

      // The clock is set back: the order stays.
      let again = DeadLetterStore(directory: path) { WallTime(milliseconds: noon.milliseconds - 86_400_000) }
      let listing = try await again.list()
      #expect(listing.letters.map(\.id) == [first.id, second.id, third.id])
      #expect(listing.letters.allSatisfy { $0.payload.isEmpty } && listing.unreadable.isEmpty)
      #expect(try await again.load(second.id).payload == "two \0 ä")
      #expect(try await again.keep(letter("four")).id > third.id)
      try await again.drop(second.id)
      await #expect(throws: SystemFault.self) { try await again.load(second.id) }
      #expect(try await again.dropAll() == 3)
      #expect(try SystemFiles().names(in: path).isEmpty)
    }
  }

  @Test("above their number push out the oldest, which is told; what cannot be read is reported and never removed")
  func bound() async throws {
    let directory = try TemporaryDirectory()
    let odd = ["20200101T000000000-000001.json", "notes.txt", ".unfinished-20200101T000000000-000009.json"]
    for name in odd { try write("{ no letter", to: "\(directory.path)/\(name)") }
    try await LoopThread.run { [path = directory.path] () async throws in
      let store = DeadLetterStore(directory: path, countMaximum: 3)
      var kept: [String] = []
      var removed: [String] = []
      for index in 0..<6 {
        let outcome = try await store.keep(letter("\(index)"))
        kept.append(outcome.id)
        removed += outcome.removed
      }
      // The unreadable file that looks like a letter counts as one, and stays.
      #expect(removed == Array(kept.prefix(4)))
      let listing = try await store.list()
      #expect(listing.letters.map(\.id) == Array(kept.suffix(2)))
      #expect(Set(listing.unreadable.map(\.name)) == Set(odd))
      await #expect(throws: SystemFault.self) { try await store.drop("20200101T000000000-000001") }
      #expect(try await store.dropAll() == 2)
      #expect(Set(try SystemFiles().names(in: path)) == Set(odd))
    }
  }

  @Test(
    "have names that lead nowhere else", arguments: ["", "../x", "a/b", ".", "20260301T120000000-000001/../x", "x"])
  func names(name: String) async throws {
    let directory = try TemporaryDirectory()
    try write("{}", to: directory.path + "/x")
    try await LoopThread.run { [path = directory.path] () async throws in
      let store = DeadLetterStore(directory: path + "/letters")
      do {
        _ = try await store.load(name)
        Issue.record("loaded \(name)")
      } catch let fault as SystemFault { #expect(fault.name == "ENOENT") }
      await #expect(throws: SystemFault.self) { try await store.drop(name) }
    }
  }

  @Test("stay in memory when the disk is full, are told as such, and reach it when there is room")
  func fullDisk() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path] () async throws in
      let files = FaultyFiles()
      let store = DeadLetterStore(directory: path, files: files)
      files.leaveRoom(100)
      var id = ""
      do {
        _ = try await store.keep(letter("kept"))
        Issue.record("written on a full disk")
      } catch let fault as DeadLetterFault {
        #expect(fault.cause.name == "ENOSPC" && fault.lost.isEmpty)
        id = fault.id
      }
      #expect(try SystemFiles().names(in: path).isEmpty)
      #expect(try await store.list().inMemory == [id])
      #expect(try await store.load(id).payload == "kept")
      files.heal()
      try await eventually("a retry") { store.memoryCount == 0 }
      #expect(try SystemFiles().names(in: path) == [id + ".json"])
      #expect(try await store.load(id).payload == "kept")
    }
  }

  @Test("in memory are bounded, the oldest is lost and told, and one may be dropped there")
  func memoryBound() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path] () async throws in
      let files = FaultyFiles()
      files.failFromNowOn()
      let store = DeadLetterStore(directory: path, files: files)
      var ids: [String] = []
      var lost: [String] = []
      for index in 0..<(DeadLetterStore.memoryCountMaximum + 3) {
        do { _ = try await store.keep(letter("\(index)")) } catch let fault as DeadLetterFault {
          ids.append(fault.id)
          lost += fault.lost
        }
      }
      #expect(store.memoryCount == DeadLetterStore.memoryCountMaximum)
      #expect(lost == Array(ids.prefix(3)))
      files.heal()
      try await store.drop(ids[10])
      try await eventually("a retry") { store.memoryCount == 0 }
      #expect(try await store.list().letters.map(\.id) == ids.dropFirst(3).filter { $0 != ids[10] })
    }
  }

  @Test("are whole or not there whichever single call of the system fails, and in the end there is each exactly once")
  func eachCallFailsOnce() async throws {
    var failing = 0
    var isBeyondLastCall = false
    while !isBeyondLastCall {
      let directory = try TemporaryDirectory()
      isBeyondLastCall = try await LoopThread.run { [path = directory.path + "/letters", failing] () async throws in
        let files = FaultyFiles()
        let store = DeadLetterStore(directory: path, files: files)
        files.fail(failing..<(failing + 1))
        for text in ["a", "b"] {
          do { _ = try await store.keep(letter(text)) } catch let fault as DeadLetterFault {
            #expect(fault.cause.name == "EIO", "call \(failing)")
          }
        }
        let keepingCallCount = files.callCount
        files.heal()
        try await eventually("a retry, call \(failing)") { store.memoryCount == 0 }
        let listing = try await store.list()
        var payloads: [String] = []
        for letter in listing.letters { payloads.append(try await store.load(letter.id).payload) }
        #expect(payloads == ["a", "b"] && listing.unreadable.isEmpty, "call \(failing)")
        return keepingCallCount <= failing
      }
      failing += 1
    }
    #expect(failing > 15)
  }

  @Test("that have killed again are the same, with what is new; a crash in the middle of that leaves the old one")
  func updated() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path] () async throws in
      let store = DeadLetterStore(directory: path)
      let id = try await store.keep(letter("kept")).id
      try await store.update(id, deliveries: 4, time: "2026-03-02T12:00:00.000Z")
      let found = try await DeadLetterStore(directory: path).load(id)
      #expect(found.deliveries == 4 && found.time.hasPrefix("2026-03-02") && found.payload == "kept" && found.id == id)
      await #expect(throws: SystemFault.self) {
        try await store.update("20260301T120000000-000009", deliveries: 4, time: "")
      }
      try write("{ half", to: "\(path)/.unfinished-\(id).json")
      let listing = try await DeadLetterStore(directory: path).list()
      #expect(listing.letters.map(\.deliveries) == [4] && listing.unreadable.isEmpty)
    }
  }

  @Test("in memory that have killed again are the same there")
  func updatedInMemory() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path] () async throws in
      let files = FaultyFiles()
      files.failFromNowOn()
      let store = DeadLetterStore(directory: path, files: files)
      var id = ""
      do { _ = try await store.keep(letter("kept")) } catch let fault as DeadLetterFault { id = fault.id }
      try await store.update(id, deliveries: 7, time: "later")
      files.heal()
      try await eventually("a retry") { store.memoryCount == 0 }
      #expect(try await store.load(id).deliveries == 7)
    }
  }

  @Test("written whole before a crash, but not yet named, are found at the next start")
  func unfinished() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run { [path = directory.path] () async throws in
      let id = try await DeadLetterStore(directory: path).keep(letter("kept")).id
      #expect(rename("\(path)/\(id).json", "\(path)/.unfinished-\(id).json") == 0)
      let listing = try await DeadLetterStore(directory: path).list()
      #expect(listing.letters.map(\.id) == [id] && listing.unreadable.isEmpty)
    }
  }
}

private func letter(_ payload: String) -> DeadLetterRecord {
  DeadLetterRecord(
    id: "", time: "2026-03-01T12:00:00.000Z", worker: "store", method: "store.put", sender: "connector", deliveries: 3,
    trace: "1f", isRaw: false, payload: payload, isBase64: false)
}
