import Cryptography
import EventArchive
import Glibc
import Nostr
import Reconciliation
import Storage

// Events for measurements, and what it costs to store them.
//
//     archive-bench make FIRST COUNT          signed events, one a line
//     archive-bench fill DATABASE COUNT       puts that many into a database behind what is there, and says how it goes
//     archive-bench store DATABASE COUNT      the same; prints the processor time of one as JSON
//     archive-bench records DATABASE COUNT    reads all for a reconciliation, so many times; milliseconds as JSON
//     archive-bench look DATABASE COUNT       looks so many events up by id, words of all frequencies; times as JSON
//     archive-bench cover DATABASE KEYS       remembers what is covered for so many authors and kinds; rates as JSON
//
// Events for a database have no signature: they are handed over as verified, in batches of 1,000. Their words are
// indexed when it is filled; how long that takes, `fill` tells.

let usage =
  "usage: archive-bench make FIRST COUNT | fill DATABASE COUNT | store DATABASE COUNT | records DATABASE COUNT "
  + "| look DATABASE COUNT | cover DATABASE KEYS"
let batch = 1_000

func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func store(_ events: ArraySlice<VerifiedEvent>, in archive: EventArchive) throws {
  let now = EventMaker.firstSecond * 2
  let outcomes = try archive.storeNow(Array(events), now: now)
  precondition(outcomes.allSatisfy { if case .stored = $0 { true } else { false } })
  while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
}

func fill(_ archive: EventArchive, _ count: Int) throws {
  var maker = EventMaker()
  let first = Int(archive.lastSeq)
  for start in stride(from: 0, to: count, by: batch) {
    let events = (start..<min(start + batch, count)).map { maker.trusted(first + $0) }
    try store(events[...], in: archive)
    if start % 100_000 == 0 { print("\(start) of \(count)") }
  }
  let (began, indexed) = (processorSeconds(), archive.lastSeq - archive.searchedSeq)
  while archive.hasSearchWork { try archive.indexSliceNow() }
  let microseconds = (processorSeconds() - began) * 1e6 / Double(max(1, indexed))
  print("{\"indexMicroseconds\": \(microseconds)}")
}

/// Microseconds of wall-clock time of each call.
func times(_ count: Int, _ body: () throws -> Int) rethrows -> [Double] {
  let clock = ContinuousClock()
  return try (0..<count).map { _ in
    let start = clock.now
    let found = try body()
    precondition(found > 0, "what is looked for is there")
    return (clock.now - start) / .microseconds(1)
  }
}

/// What it takes to find events by id, in memory and on disk, and by words.
func look(_ archive: EventArchive, _ count: Int) throws {
  let now = EventMaker.firstSecond * 2
  func ids(_ filter: Filter) throws -> [EventID] {
    try archive.queryNow(filter, limit: 5_000, now: now).map(\.indexed.id)
  }
  var maker = EventMaker()
  let first = Int(archive.lastSeq)
  try store((0..<5_000).map { maker.trusted(first + $0) }[...], in: archive)
  while archive.hasSearchWork { try archive.indexSliceNow() }
  let recent = try ids(Filter())
  let old = try ids(Filter(until: EventMaker.firstSecond + Int64(first) / 8))
  var results: [String: [Double]] = [:]
  func find(_ ids: [EventID]) throws -> [Double] {
    try times(count) {
      try archive.queryNow(Filter(ids: [ids[Int.random(in: 0..<ids.count)]]), limit: 1, now: now).count
    }
  }
  results["recent"] = try find(recent)
  results["old"] = try find(old)
  results["words"] = try ["w2000", "w90", "w1", "w20 w300", "w0 w2000", "\"w0 w1\"", "w50 -w0"].flatMap { text in
    try times(max(1, count / 100)) {
      let seqs = try archive.searchNow(Filter(search: text), now: now)
      return try archive.eventsNow(Array(seqs.prefix(50)), now: now).count
    }
  }
  print("{\(results.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", "))}")
}

/// What a reconciliation (NIP-77) costs an answering side before its first answer, and the answer itself.
func reconcile(_ archive: EventArchive, _ count: Int) throws {
  let now = EventMaker.firstSecond * 2
  let span = archive.lastSeq / 4
  let filters = [
    ("all", Filter()), ("kind", Filter(kinds: [1])),
    ("half", Filter(since: EventMaker.firstSecond + span / 2)), ("tag", Filter(tags: topics())),
    ("newest", Filter(limit: 1_000)),
  ]
  for (name, filter) in filters {
    var records = ReconcileRecords([])
    let reading = try times(count) {
      guard let read = try archive.recordsNow(filter, maximum: .max, now: now) else { return 0 }
      records = read
      return records.count
    }
    let asking = Reconciler(ReconcileRecords(records.records.filter { $0.id.octets.firstWord % 1_000 > 0 }))
    let side = Reconciler(records)
    let first = asking.initiate()
    let answering = try times(count) { try side.answer(to: first).count }
    let milliseconds = [reading, answering].map { ($0.min() ?? 0) / 1_000 }
    print("{\"\(name)\": {\"records\": \(records.count), \"milliseconds\": \(milliseconds)}}")
  }
}

func topics() -> [TagLetter: [TagValue]] {
  TagLetter("t").map { [$0: (0..<30).map { TagValue("topic\($0)") }] } ?? [:]
}

func measure(_ archive: EventArchive, _ count: Int) throws {
  var maker = EventMaker()
  let first = Int(archive.lastSeq)
  let events = (0..<count).map { maker.trusted(first + $0) }
  let began = processorSeconds()
  for start in stride(from: 0, to: count, by: batch) {
    try store(events[start..<min(start + batch, count)], in: archive)
  }
  let microseconds = (processorSeconds() - began) * 1e6 / Double(count)
  let bytes = events.reduce(0) { $0 + $1.json.count } / count
  print("{\"cpuMicroseconds\": \(microseconds), \"byteCount\": \(bytes)}")
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 3, let command = arguments.first, let count = Int(arguments[3]), count > 0 else {
  print(usage)
  exit(2)
}
switch (command, Int(arguments[2])) {
case ("make", let first?):
  var maker = EventMaker()
  for number in first..<first + count { print(String(decoding: maker.signed(number), as: UTF8.self)) }
case ("fill", _): try fill(EventArchive(path: arguments[2]), count)
case ("store", _): try measure(EventArchive(path: arguments[2]), count)
case ("records", _): try reconcile(EventArchive(path: arguments[2]), count)
case ("look", _): try look(EventArchive(path: arguments[2]), count)
case ("cover", _): try Coverage(arguments[2]).measure(count)
default:
  print(usage)
  exit(2)
}
