import Contracts
import Cryptography
import Glibc
import JobProviding
import Nostr
import ProvidingLedger
import Storage
import TestSupport
import Testing

@Suite("The ledger of served jobs")
struct ProvidingLedgerTests {
  static let now: Int64 = 1_750_000_000

  func request(_ number: Int64, _ state: ServedJob.State = .running) -> ServedRequest {
    let key = SecretKey.generate()
    let event = UnsignedEvent(pubkey: key.publicKey, createdAt: Self.now, kind: 5_302, content: "\(number)").signed(
      by: key)
    return ServedRequest(
      number: number, id: event.id, kind: 5_302, customer: key.publicKey, takenAt: Self.now + number, state: state,
      request: event.json)
  }

  func batch(_ requests: [ServedRequest], seq: Int64? = nil) -> ServingBatch {
    var batch = ServingBatch()
    batch.changed = requests
    batch.seq = seq
    return batch
  }

  @Test("What is open comes back whole after a start, in its order, with the place in the stream")
  func reopening() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/served.db"
    var first = request(1)
    let second = request(2, .waiting)
    var ended = request(3, .answered)
    ended.result = first.id
    ended.endedAt = Self.now
    ended.isTold = true
    do {
      let ledger = try ProvidingLedger(path: path)
      try ledger.writeNow(batch([first, second, ended], seq: 41))
      first.state = .answering
      first.result = second.id
      first.outgoing = [1, 2, 3]
      try ledger.writeNow(batch([first], seq: 42))
      try ledger.close()
    }
    let contents = try ProvidingLedger(path: path).contentsNow()
    #expect(contents.open == [first, second])
    #expect(contents.known == [first.id, second.id, ended.id])
    #expect(contents.lastNumber == 3)
    #expect(contents.seq == 42)
    #expect(contents.notBefore == 0)
  }

  @Test("The rules by which requests were looked at come back, and are none where nobody has said")
  func rules() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/served.db"
    do {
      let ledger = try ProvidingLedger(path: path)
      try ledger.writeNow(batch([], seq: 7))
      #expect(try ledger.contentsNow().rulesMark == nil)
      var rewound = batch([], seq: 0)
      rewound.rulesMark = 99
      try ledger.writeNow(rewound)
      try ledger.writeNow(batch([], seq: 3))
      try ledger.close()
    }
    let contents = try ProvidingLedger(path: path).contentsNow()
    #expect(contents.rulesMark == 99 && contents.seq == 3)
  }

  @Test("What is settled loses its events and keeps its name")
  func settled() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try ProvidingLedger(path: directory.path + "/served.db")
    var one = request(1)
    one.outgoing = [1]
    try ledger.writeNow(batch([one]))
    one.state = .failed
    one.reason = "because"
    one.outgoing = nil
    one.isTold = true
    try ledger.writeNow(batch([one]))
    #expect(try ledger.contentsNow().open == [])
    let told = try await ledger.requests(limit: 10)
    #expect(told.map(\.reason) == ["because"])
    #expect(told.map(\.request) == [[]])
  }

  @Test("Old requests are forgotten when they are settled, and only then")
  func sweeping() async throws {
    let directory = try TemporaryDirectory()
    let ledger = try ProvidingLedger(path: directory.path + "/served.db")
    let open = request(1)
    var (old, new) = (request(2, .answered), request(30, .answered))
    old.isTold = true
    new.isTold = true
    try ledger.writeNow(batch([open, old, new]))
    #expect(try await ledger.sweep(before: Self.now + 20) == [old.id])
    #expect(try ledger.contentsNow().known == [open.id, new.id])
  }

  @Test("Of a damaged ledger is saved what can be read, and nothing from before is taken up")
  func damage() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/served.db"
    let one = request(1)
    do {
      let ledger = try ProvidingLedger(path: path)
      try ledger.writeNow(batch([one], seq: 7))
      ledger.markDamaged()
      try ledger.close()
    }
    let (ledger, contents, rescue) = try ProvidingLedger.openOrRescue(path: path, now: Self.now)
    #expect(contents.open == [one])
    #expect(contents.seq == nil)
    #expect(contents.notBefore == Self.now)
    #expect(rescue?.savedCount == 1)
    try ledger.close()
    #expect(try ProvidingLedger.openOrRescue(path: path, now: Self.now).2 == nil)
  }

  @Test("A ledger of no bytes is not taken for a new one: nothing from before is taken up")
  func empty() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/served.db"
    try ProvidingLedger.openOrRescue(path: path, now: Self.now).0.close()
    #expect(truncate(path, 0) == 0)
    let (ledger, contents, rescue) = try ProvidingLedger.openOrRescue(path: path, now: Self.now)
    #expect(contents.notBefore == Self.now && rescue?.reason == Quarantine.emptyReason && rescue?.savedCount == 0)
    try ledger.close()
    #expect(try ProvidingLedger.openOrRescue(path: path, now: Self.now).2 == nil)
  }

  @Test("A file that is no database is put aside")
  func noDatabase() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/served.db"
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let bytes = [UInt8](repeating: 0x41, count: 8_192)
    #expect(write(file, bytes, bytes.count) == bytes.count)
    close(file)
    let (_, contents, rescue) = try ProvidingLedger.openOrRescue(path: path, now: Self.now)
    #expect(contents.known == [])
    #expect(rescue != nil)
  }
}
