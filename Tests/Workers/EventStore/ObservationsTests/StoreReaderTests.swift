import Contracts
import Cryptography
import Frames
import Nostr
import Observations
import TestSupport
import Testing

@Suite("What a role may read of the store")
struct StoreReaderTests {
  private let key = SecretKey.generate().publicKey
  private let observe = StoreObserve(filters: [])

  private func waking(_ kinds: [UInt16]? = [1, 1_059], keys: Int = 1) throws -> Filter {
    var filter = Filter(kinds: kinds)
    filter.tags[try #require(TagLetter("p"))] = (0..<keys).map { _ in TagValue(key.description) }
    return filter
  }

  @Test("Every role has a reader, and a caller without a role that of least trust")
  func roles() {
    for role in Role.builtIn {
      let reader = StoreReader(role: role.number)
      switch role {
      case .pushRelay: #expect(reader == .wakes)
      case .localRelay: #expect(reader == .localRelay)
      case .dvmTracker: #expect(reader == .notes(namesRelays: true))
      case .dvmProvider: #expect(reader == .notes(namesRelays: false))
      default: #expect(reader == .all)
      }
    }
    #expect(StoreReader(role: Role.firstCustomNumber) == .all)
    #expect(StoreReader(role: nil) == .notes(namesRelays: false))
  }

  @Test("What wakes is bounded in keys and time, and nothing else is observed")
  func wakes() throws {
    let now: Int64 = 1_800_000_000
    let lists = Filter(authors: [key], kinds: [EventKind.mutes])
    let bounded = try StoreReader.wakes.observed(observe, [waking(), lists], now: now)
    #expect(bounded.map(\.since) == [now - StoreReader.wakingSeconds, nil])
    var recent = try waking()
    recent.since = now - 60
    #expect(try StoreReader.wakes.observed(observe, [recent], now: now) == [recent])
    let bad = [
      Filter(), try waking(nil), try waking(keys: 0), Filter(kinds: [EventKind.mutes]),
      try waking([30_078]), try waking([1, EventKind.mutes]), try waking(keys: StoreReader.wakingKeyMaximum + 1),
    ]
    for filter in bad {
      #expect(throws: Refusal.self, "\(filter)") { try StoreReader.wakes.observed(observe, [lists, filter], now: now) }
    }
    #expect(try StoreReader.wakes.queried([lists]) == [lists])
    #expect(throws: Refusal.self) { try StoreReader.wakes.queried([lists, waking()]) }
  }

  @Test(
    "A message is shown without its content, and reads as the same event otherwise", arguments: ["", "a", "\"\\ü\n"])
  func content(_ content: String) throws {
    let author = SecretKey.generate()
    for kind: UInt16 in [1, 4, 1_059] {
      let event = UnsignedEvent(
        pubkey: author.publicKey, createdAt: 1, kind: kind, tags: [["p", "\(key)"]], content: content
      ).signed(by: author)
      let shown = event.json.withUnsafeBytes { StoreReader.wakes.showing($0, kind: kind) { Array($0) } }
      let read = try Event(json: shown)
      #expect(read.id == event.id && read.tags == event.tags && read.content == (kind == 1 ? content : ""))
      #expect(event.json.withUnsafeBytes { StoreReader.all.showing($0, kind: kind) { Array($0) } } == event.json)
    }
  }
}
