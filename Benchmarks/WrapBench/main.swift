import Cryptography
import Glibc
import Nostr
import NostrContracts
import Signing

// What it costs the signer to open a gift wrap, on one thread: decrypt, verify the seal, decrypt, read the rumor.
//
//     wrap-bench [WRAPS [AUTHORS [ROUNDS]]]
//     wrap-bench --write FILE [WRAPS [AUTHORS]]    the recipient's secret key in the first line, then a wrap in each
//
// Prints one line of JSON: wraps a second of processor time, a figure for each round: with authors that are kept, and
// with none kept. With --write another program can open the same wraps.

func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func key(_ number: Int) -> SecretKey {
  var bytes = [UInt8](repeating: 7, count: 32)
  (bytes[0], bytes[1]) = (UInt8(number & 0xFF), UInt8(number >> 8 & 0xFF))
  guard let key = bytes.withUnsafeBytes({ SecretKey(bytes: $0) }) else { preconditionFailure("this is a key") }
  return key
}

let recipient = key(0xFFFF)

func makeWraps(_ count: Int, authors: Int) -> [[UInt8]] {
  let keys = (1...authors).map(key)
  var random = SystemRandomNumberGenerator()
  return (0..<count).map { number in
    let author = keys[number % authors]
    let rumor = UnsignedEvent(
      pubkey: author.publicKey, createdAt: 1_800_000_000 + Int64(number), kind: EventKind.privateMessage,
      tags: [["p", "\(recipient.publicKey)"]], content: "message \(number): shall we meet at the usual place at noon?")
    do throws(GiftWrapFault) {
      let seal = try Seal(rumor, for: recipient.publicKey, by: author, now: 1_800_000_000, using: &random)
      return try GiftWrap(seal, for: recipient.publicKey, now: 1_800_000_000, using: &random).event.json
    } catch { preconditionFailure("it can be wrapped: \(error)") }
  }
}

func wrapsPerSecond(_ wraps: [[UInt8]], _ authors: ConversationCache) -> Double {
  let opener = WrapOpener(recipient, authors: authors)
  let start = processorSeconds()
  for wrap in wraps {
    guard case .opened = opener.open(wrap) else { preconditionFailure("each wrap opens") }
  }
  return Double(wraps.count) / (processorSeconds() - start)
}

var arguments = Array(CommandLine.arguments.dropFirst())
let file = arguments.first == "--write" && arguments.count > 1 ? arguments[1] : nil
if file != nil { arguments.removeFirst(2) }
let numbers = arguments.compactMap { Int($0) }
guard numbers.count == arguments.count, numbers.allSatisfy({ $0 > 0 }) else {
  print("usage: wrap-bench [--write FILE] [WRAPS [AUTHORS [ROUNDS]]]")
  exit(2)
}
let wraps = makeWraps(numbers.first ?? 5_000, authors: numbers.dropFirst().first ?? 50)
if let file {
  guard let output = fopen(file, "w") else {
    print("wrap-bench: \(file) cannot be written")
    exit(1)
  }
  // A key of this benchmark alone: 255, 255 and thirty sevens.
  fputs("ffff" + String(repeating: "07", count: 30) + "\n", output)
  for wrap in wraps { fputs(String(decoding: wrap, as: UTF8.self) + "\n", output) }
  fclose(output)
} else {
  var kept: [Double] = []
  var new: [Double] = []
  let authors = ConversationCache()
  authors.keep(only: [recipient.publicKey])
  for _ in 0..<(numbers.dropFirst(2).first ?? 5) {
    kept.append(wrapsPerSecond(wraps, authors))
    // A cache that has no account keeps nothing.
    new.append(wrapsPerSecond(wraps, ConversationCache()))
  }
  let byteCount = wraps.reduce(0) { $0 + $1.count } / wraps.count
  print("{\"kept\": \(kept), \"new\": \(new), \"byteCount\": \(byteCount)}")
}
