import Clocks
import Cryptography
import FoundationEssentials
import Glibc
import Nostr

// What it costs to read an event, to find its id, and to verify it; and what JSONDecoder takes to read it.
//
//     event-bench EVENTS.jsonl [ROUNDS]
//
// Rounds of all go in turn. Prints one line of JSON: for each an array of nanoseconds of processor time for one event,
// on one thread; verified by one thread and by two at once, nanoseconds of wall-clock time; and the mean length of an
// event.

/// What a Swift program would write without the scanner.
struct PlainEvent: Decodable {
  let id: String
  let pubkey: String
  let createdAt: Int64
  let kind: Int
  let tags: [[String]]
  let content: String
  let sig: String

  enum CodingKeys: String, CodingKey {
    case id, pubkey, kind, tags, content, sig
    case createdAt = "created_at"
  }
}

func processorNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

func readLines(_ path: String) -> [[UInt8]] {
  guard let file = fopen(path, "r") else {
    print("event-bench: \(path) cannot be read")
    exit(1)
  }
  defer { fclose(file) }
  var contents: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { contents += buffer[..<count] }
  return contents.split(separator: UInt8(ascii: "\n")).map(Array.init)
}

/// Nanoseconds for one event, over as many passes as make `eventCount` events.
func measure(_ lines: [[UInt8]], _ eventCount: Int, _ body: ([UInt8]) -> Bool) -> Double {
  var count = 0
  var isSound = true
  let start = processorNanoseconds()
  while count < eventCount {
    for line in lines.prefix(eventCount - count) { isSound = body(line) && isSound }
    count += min(lines.count, eventCount - count)
  }
  let end = processorNanoseconds()
  precondition(isSound, "every event of the file is valid")
  return Double(end - start) / Double(count)
}

/// Verifies `count` events as a thread of the store's pool does, with a verifier and keys of its own.
@Sendable func verify(_ lines: [[UInt8]], _ count: Int) {
  let verifier = EventVerifier()
  var keys: [PublicKey: ParsedPublicKey] = [:]
  let isSound = (0..<count).allSatisfy { number in
    lines[number % lines.count].withUnsafeBytes { bytes in
      do throws(EventFault) {
        let event = try ScannedEvent(bytes)
        let key = keys[event.pubkey] ?? ParsedPublicKey(event.pubkey)
        keys[event.pubkey] = key
        return verifier.fault(of: event, in: bytes, key: key) == nil
      } catch { return false }
    }
  }
  precondition(isSound, "every event of the file is valid")
}

/// Nanoseconds of wall-clock time for one event, when so many threads verify at once.
func verifyTogether(_ lines: [[UInt8]], threads: Int) async -> Double {
  let count = 10_000
  let clock = ContinuousClock()
  let start = clock.now
  await withTaskGroup { group in
    for _ in 0..<threads { group.addTask { verify(lines, count / threads) } }
  }
  return (clock.now - start) / .nanoseconds(1) / Double(count)
}

guard CommandLine.arguments.count > 1 else {
  print("usage: event-bench EVENTS.jsonl [ROUNDS]")
  exit(2)
}
let lines = readLines(CommandLine.arguments[1])
let rounds = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 5
let decoder = JSONDecoder()
let verifier = EventVerifier()
var keys: [PublicKey: ParsedPublicKey] = [:]
var figures: [String: [Double]] = [:]

func scan(_ line: [UInt8]) -> ScannedEvent? {
  line.withUnsafeBytes { bytes in
    do throws(EventFault) { return try ScannedEvent(bytes) } catch { return nil }
  }
}

for _ in 0..<rounds {
  figures["scan", default: []].append(measure(lines, 200_000) { scan($0) != nil })
  figures["decode", default: []].append(
    measure(lines, 5_000) { line in
      do { return try decoder.decode(PlainEvent.self, from: Data(line)).kind >= 0 } catch { return false }
    })
  figures["identify", default: []].append(
    measure(lines, 100_000) { line in
      guard let event = scan(line) else { return false }
      return line.withUnsafeBytes { verifier.identify(event, in: $0) } == event.id
    })
  figures["verify", default: []].append(
    measure(lines, 10_000) { line in
      guard let event = scan(line) else { return false }
      let key = keys[event.pubkey] ?? ParsedPublicKey(event.pubkey)
      keys[event.pubkey] = key
      return line.withUnsafeBytes { verifier.fault(of: event, in: $0, key: key) } == nil
    })
  figures["verifyOne", default: []].append(await verifyTogether(lines, threads: 1))
  figures["verifyTwo", default: []].append(await verifyTogether(lines, threads: 2))
}
let parts = figures.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
let length = Double(lines.reduce(0) { $0 + $1.count }) / Double(lines.count)
print("{\(parts.joined(separator: ", ")), \"byteCount\": \(length)}")
