import Cryptography
import EventArchive
import Glibc
import Nostr
import Storage

// What it costs to store events, to index their words, and to find them.
//
//     archive-bench DIRECTORY STORED EVENTS
//
// Fills an archive in DIRECTORY with STORED events of about 590 bytes, then stores EVENTS more, in batches of 1,000, verified
// before. Then their words are indexed, and events are looked up by id and by words. Prints lines of text, and last one
// line of JSON. Words are drawn as people draw them: the second is half as frequent as the first, and so on.

func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

struct Maker {
  var random = SystemRandomNumberGenerator()
  let authors = (0..<500).map { _ in SecretKey.generate() }
  let names = (0..<5_000).map { SHA256.hash(Array("\($0)".utf8)).description }
  static let wordCount = 30_000

  /// The word of a rank, the most frequent being `w0`.
  mutating func word() -> String {
    let rank = pow(Double(Self.wordCount), Double.random(in: 0..<1, using: &random))
    return "w\(Int(rank) - 1)"
  }

  mutating func event(_ number: Int) -> [UInt8] {
    let author = authors[Int.random(in: 0..<authors.count, using: &random)]
    let parent = RandomBytes.make(32)
    let tags = [
      ["e", Hexadecimal.text(of: parent), "", "root"], ["p", names[Int.random(in: 0..<names.count, using: &random)]],
      ["t", "topic\(number % 300)"],
    ]
    let words = (0..<13).map { _ in word() }.joined(separator: " ")
    let unsigned = UnsignedEvent(
      pubkey: author.publicKey, createdAt: 1_700_000_000 + Int64(number) / 4, kind: 1, tags: tags,
      content: "note \(number) \(words)")
    guard let signature = Signature(String(repeating: "0", count: 128)) else { return [] }
    return Event(unsigned, signature: signature).json
  }
}

func trusted(_ json: [UInt8]) -> VerifiedEvent {
  json.withUnsafeBytes { bytes in
    do throws(EventFault) {
      return VerifiedEvent(trusted: bytes, try ScannedEvent(bytes), relay: 1, receivedAt: 1)
    } catch { preconditionFailure("made here: \(error)") }
  }
}

let arguments = CommandLine.arguments
guard arguments.count > 3, let stored = Int(arguments[2]), let count = Int(arguments[3]) else {
  print("usage: archive-bench DIRECTORY STORED EVENTS")
  exit(2)
}
let archive = try EventArchive(path: arguments[1] + "/events.sqlite")
let time: Int64 = 1_800_000_000
var maker = Maker()
var ids: [EventID] = []
@MainActor
func store(_ events: [VerifiedEvent]) throws {
  for start in stride(from: 0, to: events.count, by: 1_000) {
    let batch = Array(events[start..<min(start + 1_000, events.count)])
    let outcomes = try archive.storeNow(batch, now: time)
    precondition(outcomes.allSatisfy { if case .stored = $0 { true } else { false } })
    ids += batch.map(\.indexed.id)
    while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
  }
}

/// Calls `body` often, and prints the median and the 99th of a hundred of its times.
func measure(_ name: String, _ times: Int, _ body: (Int) throws -> Int) rethrows -> String {
  var (seconds, found): ([Double], Int) = ([], 0)
  for index in 0..<times {
    let start = now()
    found += try body(index)
    seconds.append(now() - start)
  }
  seconds.sort()
  func text(_ share: Double) -> Double { (seconds[Int(Double(times - 1) * share)] * 1e6).rounded() }
  print("\(name): p50 \(text(0.5)) us, p99 \(text(0.99)) us, \(found / times) found")
  return "\"\(name)\": {\"p50Microseconds\": \(text(0.5)), \"p99Microseconds\": \(text(0.99))}"
}

for start in stride(from: 0, to: stored, by: 10_000) {
  let events = (start..<(start + 10_000)).map { trusted(maker.event($0)) }
  let (wall, processor) = (now(), processorSeconds())
  try store(events)
  guard start % 50_000 == 0 else { continue }
  print("\(start): \(Int(10_000 / (now() - wall)))/s wall, \((processorSeconds() - processor) * 100) us processor")
}
let fresh = (0..<count).map { trusted(maker.event(stored + $0)) }
let (wall, processor) = (now(), processorSeconds())
try store(fresh)
var results = [
  "\"stored\": \(stored)", "\"perSecond\": \(Double(count) / (now() - wall))",
  "\"cpuMicroseconds\": \((processorSeconds() - processor) * 1e6 / Double(count))",
  "\"byteCount\": \(fresh.reduce(0) { $0 + $1.json.count } / count)",
]
let (indexWall, bytesBefore, indexStart) = (now(), archive.usedByteCount, archive.searchedSeq)
var slices: [Double] = []
while archive.hasSearchWork {
  let start = now()
  try archive.indexSliceNow()
  slices.append((now() - start) * 1e3)
}
slices.sort()
let indexed = max(1, archive.lastSeq - indexStart)
_ = try archive.storeNow([trusted(maker.event(stored + count))], now: time)
print(
  "indexed \(indexed) in \(now() - indexWall) s, a slice takes \(slices[slices.count / 2]) ms, of a hundred one",
  "\(slices[slices.count * 99 / 100]) ms, at most \(slices[slices.count - 1]) ms; \(archive.usedByteCount) bytes in use"
)
results.append("\"indexMicroseconds\": \((now() - indexWall) * 1e6 / Double(indexed))")
results.append("\"indexByteCount\": \((archive.usedByteCount - bytesBefore) / indexed)")

let recent = Array(ids.suffix(5_000))
results.append(
  try measure("id, in memory", 10_000) {
    try archive.queryNow(Filter(ids: [recent[$0 % recent.count]]), limit: 1, now: time).count
  })
archive.recentByteCount = 0
results.append(
  try measure("id, from the database", 5_000) { _ in
    try archive.queryNow(Filter(ids: [ids[Int.random(in: 0..<ids.count)]]), limit: 1, now: time).count
  })
for (name, text) in [
  ("a rare word", "w20000"), ("a word in a hundred", "w90"), ("a frequent word", "w1"), ("two words", "w20 w300"),
  ("a frequent word and a rare one", "w0 w20000"), ("a phrase", "\"w0 w1\""), ("without", "w50 -w0"),
] {
  results.append(
    try measure(name, 20) { _ in
      let seqs = try archive.searchNow(Filter(search: text), now: time)
      return try archive.eventsNow(Array(seqs.prefix(50)), now: time).isEmpty ? 0 : seqs.count
    })
}
let someone = maker.authors[0].publicKey
results.append(
  try measure("a frequent word of one author", 20) { _ in
    try archive.searchNow(Filter(authors: [someone], search: "w1"), now: time).count
  })
let retention = ArchiveRetention(byteLimit: 1)
results.append(
  try measure("500 events removed", min(20, count / 1_000)) { _ in
    try archive.evictNow(retention, now: time).gone.count
  })
while archive.hasTrimWork { try archive.trimSliceNow() }
print("{\(results.joined(separator: ", "))}")
