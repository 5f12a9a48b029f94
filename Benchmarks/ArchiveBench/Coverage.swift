import Cryptography
import EventArchive
import Glibc
import Nostr
import Observations

/// What it costs to remember what is covered, by author and kind: 500 authors of five kinds are a part.
struct Coverage {
  private static let authorCount = 500
  private static let kinds: [UInt16] = [0, 1, 3, 7, 30_023]
  private let archive: EventArchive
  private let path: String

  init(_ path: String) throws {
    self.path = path
    archive = try EventArchive(path: path)
  }

  /// Writes the ends of as many parts as have so many keys, and the same again some hours later; prints keys a second
  /// of each end by the clock, and the bytes of the file, as JSON.
  func measure(_ keyCount: Int) throws {
    let partCount = max(1, keyCount / (Self.authorCount * Self.kinds.count))
    let empty = try byteCount()
    let first = try (0..<partCount).map { try end($0, from: 0, at: 1_000) }
    let bytes = try byteCount() - empty
    let again = try (0..<partCount).map { try end($0, from: 1_001, at: 20_000) }
    let keys = partCount * Self.authorCount * Self.kinds.count
    print("{\"keys\": \(keys), \"bytes\": \(bytes), \"first\": \(first), \"again\": \(again)}")
  }

  /// Ends a part, in a transaction of its own; keys a second.
  private func end(_ number: Int, from since: Int64, at time: Int64) throws -> Double {
    let authors = (0..<Self.authorCount).map { PublicKey(SHA256.hash(Array("\(number) \($0)".utf8))) }
    let filter = Filter(authors: authors, kinds: Self.kinds)
    let clock = ContinuousClock()
    let start = clock.now
    let keys = filter.coverageSubjects.map { FilterKey([$0]) }
    let interval = CoverageIntervals.Interval(since: since, until: time, checkedAt: time)
    let note = ArchiveNote.coveredParts(FilterKey([filter.subject]), keys, relay: 1, interval)
    _ = try archive.writeNow(
      [.note(note)], relays: [RelayNumber(number: 1, url: "wss://relay.example")], now: time)
    return Double(keys.count) * 1e9 / ((clock.now - start) / .nanoseconds(1))
  }

  /// The file with its log.
  private func byteCount() throws -> Int {
    ["", "-wal"].reduce(0) { total, suffix in
      var found = stat()
      return stat(path + suffix, &found) == 0 ? total + Int(found.st_size) : total
    }
  }
}
