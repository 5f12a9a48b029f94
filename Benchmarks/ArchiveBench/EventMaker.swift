import Cryptography
import EventArchive
import Glibc
import Nostr

/// Kind-1 events of about 590 bytes: a reply with its root, a mention, a topic, by one of 500 authors, four a second.
/// Words are drawn as people draw them: the second is half as frequent as the first, and so on.
struct EventMaker {
  static let firstSecond: Int64 = 1_700_000_000
  private static let wordCount = 30_000.0
  private var random = SystemRandomNumberGenerator()
  private let authors = (0..<500).map { _ in SecretKey.generate() }
  private let mentioned = (0..<5_000).map { SHA256.hash(Array("\($0)".utf8)).description }
  private let emptySignature = Signature(String(repeating: "0", count: 128))

  /// One that verifies; signing costs more than anything that is measured here.
  mutating func signed(_ number: Int) -> [UInt8] {
    let (author, event) = unsigned(number)
    return event.signed(by: author).json
  }

  /// One whose signature is zeros, taken for verified.
  mutating func trusted(_ number: Int) -> VerifiedEvent {
    guard let emptySignature else { preconditionFailure("128 digits are a signature") }
    let json = Event(unsigned(number).event, signature: emptySignature).json
    return json.withUnsafeBytes { bytes in
      do throws(EventFault) {
        return VerifiedEvent(trusted: bytes, try ScannedEvent(bytes), relay: 1, receivedAt: 1)
      } catch { preconditionFailure("made here: \(error)") }
    }
  }

  /// The word of a rank, the most frequent being `w0`.
  private mutating func word() -> String { "w\(Int(pow(Self.wordCount, .random(in: 0..<1, using: &random))) - 1)" }

  private mutating func unsigned(_ number: Int) -> (author: SecretKey, event: UnsignedEvent) {
    let author = authors[Int.random(in: 0..<authors.count, using: &random)]
    let tags = [
      ["e", Hexadecimal.text(of: RandomBytes.make(32)), "", "root"],
      ["p", mentioned[Int.random(in: 0..<mentioned.count, using: &random)]], ["t", "topic\(number % 300)"],
    ]
    let event = UnsignedEvent(
      pubkey: author.publicKey, createdAt: Self.firstSecond + Int64(number) / 4, kind: 1, tags: tags,
      content: "note \(number) " + (0..<13).map { _ in word() }.joined(separator: " "))
    return (author, event)
  }
}
