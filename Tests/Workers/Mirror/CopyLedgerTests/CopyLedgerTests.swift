import CopyLedger
import Cryptography
import Nostr
import TestSupport
import Testing

/// What relays lack, on disk.
@Suite("The ledger of copies")
struct CopyLedgerTests {
  private let alice = SecretKey.generate().publicKey
  private let url = "wss://one.example"

  private func id(_ number: UInt8) -> EventID {
    guard let octets = Octets32(Array(repeating: number, count: 32)) else { preconditionFailure("they are 32") }
    return EventID(octets)
  }

  private func absence(_ number: UInt8, at time: Int64 = 1_000, isDeletion: Bool = false) -> CopyLedger.Absence {
    CopyLedger.Absence(event: id(number), createdAt: time + Int64(number), isDeletion: isDeletion)
  }

  private func open(_ directory: TemporaryDirectory) throws -> CopyLedger {
    try CopyLedger(directory: directory.path, now: 0)
  }

  @Test("What a relay lacks is sent deletions first, then the newest; what it takes counts as a copy")
  func order() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try open(directory)
    let absent = [absence(1), absence(2, isDeletion: true), absence(3)]
    try await ledger.compared(alice, url, absent: absent, at: 2_000)
    #expect(try await ledger.open(alice, url, limit: 9) == [id(2), id(3), id(1)])
    #expect(try await ledger.missing(alice, at: [url]) == [1: 3])
    try await ledger.settled(
      alice, url, [(id(2), .taken, nil), (id(3), .refused, "blocked: no"), (id(1), nil, nil)], at: 2_001)
    #expect(try await ledger.open(alice, url, limit: 9) == [])
    #expect(try await ledger.missing(alice, at: [url]) == [1: 1], "one has refused it; one is taken, one is gone")
    #expect(try await ledger.repairedCount(alice, at: 2_001) == 1)
    #expect(try await ledger.repairedCount(alice, at: 2_001 + 8 * 86_400) == 0)
    #expect(try await ledger.lacks(of: id(3))[url]?.reason == "blocked: no")
    try ledger.close()
    let again = try open(directory)
    #expect(try await again.places(alice).first?.counts == [.taken: 1, .refused: 1])
    try again.close()
  }

  @Test("What another Roost has learned is known after a start, and forgotten with its account")
  func peers() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try open(directory)
    var known = try await ledger.peer(alice, url)
    #expect(known == CopyLedger.Peer())
    (known.told, known.learned, known.wholeAt) = (7, 8, 9)
    try await ledger.advance(alice, url, to: known)
    let first = try await ledger.open(alice, url, at: 100)
    try ledger.close()
    let again = try open(directory)
    known.openSince = first
    #expect(try await again.peer(alice, url) == known)
    let second = try await again.open(alice, url, at: 100)
    #expect(second > first)
    try await again.close(alice, url, since: first)
    #expect(try await again.peer(alice, url).openSince == second, "others may have come since")
    try await again.advance(alice, url, to: known)
    #expect(try await again.peer(alice, url).openSince == second)
    try await again.close(alice, url, since: second)
    known.openSince = nil
    #expect(try await again.peer(alice, url) == known)
    try await again.keep([])
    #expect(try await again.peer(alice, url) == CopyLedger.Peer())
    try again.close()
  }

  @Test("A refusal is remembered; an event that is there again has no row; one twice lost is not sent again")
  func losses() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try open(directory)
    try await ledger.compared(alice, url, absent: [absence(1), absence(2), absence(9)], at: 2_000)
    try await ledger.settled(
      alice, url, [(id(1), .refused, "blocked: no"), (id(2), .taken, nil), (id(9), .open, "timed out")], at: 2_001)
    // It has the ninth after all, lacks the refused one, and has lost the second.
    try await ledger.compared(alice, url, absent: [absence(1), absence(2)], at: 3_000)
    #expect(try await ledger.places(alice).first?.counts == [.refused: 1, .open: 1])
    try await ledger.settled(alice, url, [(id(2), .taken, nil)], at: 3_001)
    try await ledger.compared(alice, url, absent: [absence(1)], at: 4_000)
    #expect(try await ledger.lacks(of: id(2))[url]?.lossCount == 1, "it has it, and that it lost it is remembered")
    let older = absence(7, at: 10)
    try await ledger.compared(alice, url, absent: [absence(1), absence(2), older, absence(5)], at: 5_000)
    #expect(try await ledger.open(alice, url, limit: 9) == [id(5)], "what is as old as what it lost twice is left")
    let place = try #require(try await ledger.places(alice).first)
    #expect(place.floor == absence(2).createdAt + 1 && place.counts[.left] == 2)
    try await ledger.reopen(alice, url)
    #expect(try await ledger.open(alice, url, limit: 9) == [id(5), id(2), older.event], "the user asks for it")
    try ledger.close()
  }

  @Test("Copies are counted over the relays that were compared; accounts that are gone are forgotten")
  func counting() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try open(directory)
    let (two, bob) = ("wss://two.example", SecretKey.generate().publicKey)
    try await ledger.compared(alice, url, absent: [absence(1), absence(2)], at: 2_000)
    try await ledger.compared(alice, two, absent: [absence(2)], at: 2_000)
    try await ledger.compared(bob, two, absent: [absence(4)], at: 2_000)
    try await ledger.note(alice, "wss://dead.example", "it cannot be reached")
    #expect(try await ledger.missing(alice, at: [url, two]) == [1: 1, 2: 1])
    #expect(try await ledger.missing(alice, at: []) == [:])
    #expect(try await ledger.places(alice).map(\.relay) == ["wss://dead.example", url, two])
    let round = CopyLedger.Round(endedAt: 2_000, eventCount: 10, targets: [url, two])
    try await ledger.ended(alice, round)
    #expect(try await ledger.round(alice) == round)
    try await ledger.setApart([id(8), id(8)])
    #expect(try await ledger.apart() == [id(8)])
    try await ledger.leave(bob, two, "the relay has refused 64 others", at: 2_001)
    #expect(try await ledger.open(bob, two, limit: 9) == [])
    try await ledger.keep([bob])
    #expect(try await ledger.places(alice).isEmpty)
    #expect(try await ledger.round(alice) == nil)
    #expect(try await ledger.places(bob).first?.counts == [.left: 1])
    try ledger.close()
  }
}

@Suite("What else the mirror's ledger has")
struct KeptLedgerTests {
  @Test("Floors are known after a start; relays of past lists stay, the last named first, and not too many")
  func kept() async throws {
    let (alice, bob) = (SecretKey.generate().publicKey, SecretKey.generate().publicKey)
    let directory = try TemporaryDirectory()
    var ledger = try CopyLedger(directory: directory.path, now: 0)
    let floor = CopyLedger.Floor(since: 7, sparedSince: 3, at: 9, byteMaximum: 11)
    try await ledger.remember(floor, of: "named")
    try await ledger.remember(floor, of: "wraps")
    try await ledger.remember(nil, of: "wraps")
    try await ledger.listed(["wss://old.example", "wss://both.example"], by: alice, kind: 10_002, at: 1)
    try await ledger.listed(["wss://both.example", "wss://new.example"], by: alice, kind: 10_002, at: 2)
    try await ledger.listed(["wss://inbox.example"], by: alice, kind: 10_050, at: 1)
    try await ledger.listed(["wss://bob.example"], by: bob, kind: 10_002, at: 1)
    try ledger.close()
    ledger = try CopyLedger(directory: directory.path, now: 0)
    #expect(try await ledger.floors() == ["named": floor])
    #expect(
      try await ledger.listed(by: alice, kind: 10_002) == [
        "wss://both.example", "wss://new.example", "wss://old.example",
      ])
    #expect(try await ledger.listed(by: alice, kind: 10_050) == ["wss://inbox.example"])
    try await ledger.listed((100..<200).map { "wss://r\($0).example" }, by: alice, kind: 10_002, at: 3)
    let many = try await ledger.listed(by: alice, kind: 10_002)
    #expect(many.count == CopyLedger.listedMaximum && !many.contains("wss://old.example"))
    try await ledger.keep([bob])
    #expect(try await ledger.listed(by: alice, kind: 10_002).isEmpty)
    #expect(try await ledger.listed(by: bob, kind: 10_002) == ["wss://bob.example"])
  }
}
