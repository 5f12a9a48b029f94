import Cryptography
import FoundationEssentials
import Nostr
import Reconciliation
import TestSupport
import Testing

/// The conversations of the protocol's reference implementation with itself, `Vectors/transcripts.json`: the client's
/// message, the server's answer, and so on.
private struct Transcript: Decodable, CustomTestStringConvertible {
  let name: String
  let n: Int
  let clientRanges: [[Int]], serverRanges: [[Int]]
  let frameSizeLimit: Int
  let timestamps: String
  let clientHasCount: Int, clientNeedsCount: Int
  let clientHasSHA256: String, clientNeedsSHA256: String
  let rounds: Int
  let messages: [String]

  enum CodingKeys: String, CodingKey {
    case name, n, timestamps, rounds
    case clientRanges = "client_ranges"
    case serverRanges = "server_ranges"
    case frameSizeLimit = "frame_size_limit"
    case clientHasCount = "client_has_count"
    case clientNeedsCount = "client_needs_count"
    case clientHasSHA256 = "client_has_sha256"
    case clientNeedsSHA256 = "client_needs_sha256"
    case messages = "transcript"
  }

  var testDescription: String { name }

  static let all: [Transcript] = {
    struct File: Decodable { let vectors: [Transcript] }
    let path = SharedFolder.repository + "/Tests/Workers/EventStore/ReconciliationTests/Vectors/transcripts.json"
    guard let bytes = SharedFolder.bytes(ofFile: path) else { preconditionFailure("no \(path)") }
    do { return try JSONDecoder().decode(File.self, from: Data(bytes)).vectors } catch {
      preconditionFailure("\(path): \(error)")
    }
  }()

  /// One side; with no limit of its own, one that no message reaches.
  func side(_ ranges: [[Int]]) -> Reconciler {
    let records = ranges.flatMap { range in (range[0]..<range[1]).map(record) }
    return Reconciler(
      ReconcileRecords(records), messageByteMaximum: frameSizeLimit == 0 ? .max / 2 : frameSizeLimit)
  }

  private func record(_ number: Int) -> ReconcileRecord {
    let offset =
      switch timestamps {
      case "seq": number
      case "three": number / 3
      default: 0
      }
    return ReconcileRecord(
      timestamp: UInt64(1_700_000_000 + offset), id: EventID(SHA256.hash(Array("neg-\(number)".utf8))))
  }

  func bytes() throws -> [[UInt8]] { try messages.map { try #require(Hexadecimal.decode($0.utf8)) } }

  /// The ids sorted, joined, hashed.
  static func digest(_ ids: Set<EventID>) -> String {
    SHA256.hash(Array(ids.map { "\($0)" }.sorted().joined().utf8)).bytes.map { byte in
      let digits = String(byte, radix: 16)
      return byte < 16 ? "0" + digits : digits
    }.joined()
  }

  func expect(_ haves: Set<EventID>, _ needs: Set<EventID>) {
    #expect(haves.count == clientHasCount && needs.count == clientNeedsCount)
    #expect(Self.digest(haves) == clientHasSHA256)
    #expect(Self.digest(needs) == clientNeedsSHA256)
  }
}

@Suite("The transcripts of the reference implementation (NIP-77)")
struct TranscriptTests {
  @Test("are 15")
  func count() { #expect(Transcript.all.count == 15) }

  @Test("The asking side sends the same, byte for byte, and finds the same", arguments: Transcript.all)
  private func asking(_ transcript: Transcript) throws {
    let messages = try transcript.bytes()
    let side = transcript.side(transcript.clientRanges)
    var (haves, needs) = (Set<EventID>(), Set<EventID>())
    var next: [UInt8]? = side.initiate()
    for index in stride(from: 0, to: messages.count, by: 2) {
      #expect(next == messages[index], "message \(index)")
      let step = try side.received(messages[index + 1])
      haves.formUnion(step.haves)
      needs.formUnion(step.needs)
      next = step.next
    }
    #expect(next == nil)
    transcript.expect(haves, needs)
  }

  @Test("The answering side answers the same, byte for byte", arguments: Transcript.all)
  private func answering(_ transcript: Transcript) throws {
    let messages = try transcript.bytes()
    let side = transcript.side(transcript.serverRanges)
    for index in stride(from: 0, to: messages.count, by: 2) {
      #expect(try side.answer(to: messages[index]) == messages[index + 1], "message \(index + 1)")
    }
  }

  @Test("Both sides here find the same", arguments: Transcript.all)
  private func both(_ transcript: Transcript) throws {
    let there = transcript.side(transcript.serverRanges)
    let found = try reconcile(transcript.side(transcript.clientRanges)) { try there.answer(to: $0) }
    transcript.expect(Set(found.haves), Set(found.needs))
  }
}
