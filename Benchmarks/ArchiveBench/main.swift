import Cryptography
import EventArchive
import Glibc
import Nostr
import Storage

// What it costs to store events.
//
//     archive-bench DIRECTORY STORED EVENTS
//
// Fills an archive in DIRECTORY with STORED events of 590 bytes, then stores EVENTS more, in batches of 1,000, verified before.
// Prints one line of JSON.

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

  mutating func event(_ number: Int, signed: Bool) -> [UInt8] {
    let author = authors[Int.random(in: 0..<authors.count, using: &random)]
    let parent = RandomBytes.make(32)
    let tags = [
      ["e", Hexadecimal.text(of: parent), "", "root"], ["p", names[Int.random(in: 0..<names.count, using: &random)]],
      ["t", "topic\(number % 300)"],
    ]
    let unsigned = UnsignedEvent(
      pubkey: author.publicKey, createdAt: 1_700_000_000 + Int64(number) / 4, kind: 1, tags: tags,
      content: "note \(number) " + String(repeating: "x", count: 60))
    if signed { return unsigned.signed(by: author).json }
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
var maker = Maker()
func store(_ events: [VerifiedEvent]) throws {
  for start in stride(from: 0, to: events.count, by: 1_000) {
    let outcomes = try archive.storeNow(Array(events[start..<min(start + 1_000, events.count)]), now: 1_800_000_000)
    precondition(outcomes.allSatisfy { if case .stored = $0 { true } else { false } })
    while archive.hasSegmentWork { try archive.writeSegmentSliceNow() }
  }
}
for start in stride(from: 0, to: stored, by: 10_000) {
  let (w, c) = (now(), processorSeconds())
  let events = (start..<(start + 10_000)).map { trusted(maker.event($0, signed: false)) }
  let (w1, c1) = (now(), processorSeconds())
  try store(events)
  if start % 50_000 == 0 {
    print(
      "\(start): \(Int(10_000 / (now() - w1)))/s wall, \((processorSeconds() - c1) * 100) us cpu, made in \((c1 - c) * 100) us \(w1 - w > 0)"
    )
  }
}
let fresh = (0..<count).map { trusted(maker.event(stored + $0, signed: false)) }
let (w, c) = (now(), processorSeconds())
try store(fresh)
print(
  "{\"stored\": \(stored), \"perSecond\": \(Double(count) / (now() - w)), \"cpuMicroseconds\": \((processorSeconds() - c) * 1e6 / Double(count)), \"byteCount\": \(fresh.reduce(0) { $0 + $1.json.count } / count)}"
)
