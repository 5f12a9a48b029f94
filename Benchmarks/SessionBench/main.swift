import Addresses
import Clocks
import FoundationEssentials
import Glibc
import Nostr
import RelaySession
import RelaySubscriptions

// What the connector's machines cost for each event of a relay, without a socket, on one thread.
//
//     session-bench EVENTS.jsonl
//
// Prints one line of JSON, nanoseconds of processor time for one EVENT message: `session` (read as a message and
// received by a RelaySession), `read` (then read as an event and matched with the filter), `drain` (noted by a page of
// stored events, 500 a page), `runs` (put into runs for the store). The last two begin with what the second has read.

let measured = 200_000
let wall: Int64 = 1_800_000_000
let pageSize = 500

func processorNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Nanoseconds for one call of `body`.
func measure(_ body: (Int) -> Void) -> Double {
  let start = processorNanoseconds()
  for number in 0..<measured { body(number) }
  return Double(processorNanoseconds() - start) / Double(measured)
}

func readLines(_ path: String) -> [[UInt8]] {
  guard let data = FileManager.default.contents(atPath: path) else {
    print("session-bench: \(path) cannot be read")
    exit(1)
  }
  return data.split(separator: UInt8(ascii: "\n")).map { Array($0) }
}

/// A session with an open connection and one request, and the name of its subscription.
func openSession(_ filters: RawFilters) throws -> (session: RelaySession, subscription: String) {
  let now = Instant(nanoseconds: 1)
  var session = RelaySession(url: try RelayURL("ws://relay.example"), seed: 1)
  _ = session.openRequested(at: now)
  _ = session.connected(attempt: 1, at: now)
  let deadline = Instant(nanoseconds: .max)
  let actions = session.requestStarted(RequestKey(1), filters, .stored, .backfill, deadline: deadline, at: now)
  for case .send(let message) in actions {
    return (session, String(String(decoding: message, as: UTF8.self).split(separator: "\"")[3]))
  }
  preconditionFailure("a request is sent when there is a connection")
}

/// The place of the event in the message.
func receive(_ message: [UInt8], _ session: inout RelaySession, at now: Instant) -> Range<Int> {
  message.withUnsafeBytes { bytes in
    do throws(RelayMessageFault) {
      let read = try RelayMessage(bytes)
      for case .deliver(_, let range) in session.received(read, byteCount: bytes.count, at: now) { return range }
    } catch { preconditionFailure("made here: \(error)") }
    preconditionFailure("an event of an open subscription is delivered")
  }
}

func read(_ event: UnsafeRawBufferPointer, _ matcher: FilterMatcher) -> (sighting: Drain.Sighting, createdAt: Int64) {
  do throws(EventFault) {
    let scanned = try ScannedEvent(event)
    precondition(matcher.matches(IndexedEvent(scanned, in: event)), "every event matches")
    var hasher = Hasher()
    hasher.combine(bytes: event)
    return (Drain.Sighting(scanned.id, hash: hasher.finalize()), scanned.createdAt)
  } catch { preconditionFailure("every event of the file is valid: \(error)") }
}

/// Pages of different events, one a second.
struct Pages {
  private var drain: Drain
  private var page: Drain.Page = 0
  private var count = 0

  init() {
    let filter = Filter()
    let parts = Drain.plan(
      filter, index: 0, depth: .all, known: [Drain.Known(filter: filter)], fetchedAt: nil, byteMaximum: 1 << 16,
      wall: wall)
    drain = Drain(parts, filterCount: 1, pageSize: pageSize)
    ask(drain.begin())
  }

  private mutating func ask(_ actions: [Drain.Action]) {
    for action in actions {
      switch action {
      case .ask(let next, _):
        page = next
        drain.sent(next, wall: wall)
      case .note(let ended, _): ask(drain.committed(ended))
      default: break
      }
    }
  }

  mutating func received(_ id: EventID, _ number: Int) {
    var actions: [Drain.Action] = []
    let sighting = Drain.Sighting(id, hash: number)
    precondition(drain.received(page, sighting, createdAt: wall - Int64(number), &actions), "no event comes twice")
    count += 1
    if count % pageSize == 0 { ask(drain.endedStored(page, .unstated)) }
  }
}

guard CommandLine.arguments.count == 2 else {
  print("usage: session-bench EVENTS.jsonl")
  exit(2)
}
let filter = Filter(since: 1)
guard let filters = RawFilters(matchingSomething: [filter]) else { preconditionFailure("the filter matches something") }
let lines = readLines(CommandLine.arguments[1])
var (session, subscription) = try openSession(filters)
let messages = lines.map { Array("[\"EVENT\",\"\(subscription)\",".utf8) + $0 + Array("]".utf8) }
let matcher = FilterMatcher(filter)
let readings = lines.map { line in line.withUnsafeBytes { read($0, matcher) } }
var pages = Pages()
var runs = IngestRuns(limits: IngestRuns.Limits(frameByteCountMaximum: 1 << 20))
var figures: [String: Double] = [:]

let now = Instant(nanoseconds: 2)
figures["session"] = measure { number in
  let message = messages[number % messages.count]
  precondition(receive(message, &session, at: now).count == lines[number % lines.count].count)
}
figures["read"] = measure { number in
  let message = messages[number % messages.count]
  let range = receive(message, &session, at: now)
  message.withUnsafeBytes { bytes in
    precondition(read(UnsafeRawBufferPointer(rebasing: bytes[range]), matcher).createdAt > 0)
  }
}
figures["drain"] = measure { number in pages.received(readings[number % readings.count].sighting.id, number) }
figures["runs"] = measure { number in
  lines[number % lines.count].withUnsafeBytes { bytes in
    precondition(
      runs.append(bytes, relay: "ws://relay.example", subscription: 1, receivedNanoseconds: 1), "it is small enough")
  }
  while let run = runs.next() { _ = runs.answered(run.number) }
}
print("{\(figures.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", "))}")
