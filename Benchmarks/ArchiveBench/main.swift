import EventArchive
import Glibc
import Nostr
import Storage

// Events for measurements, and what it costs to store them.
//
//     archive-bench make FIRST COUNT          signed events, one a line
//     archive-bench fill DATABASE COUNT       puts that many into a database, behind what is there, and tells how that goes
//     archive-bench store DATABASE COUNT      the same; prints the processor time of one as JSON
//
// Events for a database have no signature: they are handed over as verified, in batches of 1,000.

let usage = "usage: archive-bench make FIRST COUNT | fill DATABASE COUNT | store DATABASE COUNT"
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
default:
  print(usage)
  exit(2)
}
