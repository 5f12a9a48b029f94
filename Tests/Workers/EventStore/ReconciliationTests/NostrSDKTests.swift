import Clocks
import Cryptography
import FoundationEssentials
import Nostr
import Reconciliation
import TestSupport
import Testing

/// Reconciliation with a library by other people: nostr-sdk, which is written in Rust.
@Suite(
  .serialized,
  .enabled(if: PythonPeer.isAvailable, "no .venv at the repository's root: run Scripts/python-environment.sh"))
struct NostrSDKTests {
  @Test("With its relay all is found that only one side has", arguments: [0, 20, 700])
  func asking(count: Int) throws {
    let sdk = try SDK()
    let there = try sdk.ask("relay", "\(count)").map { try record($0) }
    var random = SeededGenerator(seed: 5)
    let alone = (0..<count / 3).map { _ in
      ReconcileRecord(
        timestamp: 1_700_000_000 + .random(in: 0..<100, using: &random),
        id: ReconcileRecord.random(seconds: 1, &random).id)
    }
    let missing = there.shuffled(using: &random).prefix(count / 4)
    let here = Reconciler(ReconcileRecords(there.filter { !missing.contains($0) } + alone), messageByteMaximum: 4_096)
    let found = try reconcile(here) { try sdk.bytes(sdk.ask("ask", Hexadecimal.text(of: $0))[0]) }
    #expect(Set(found.haves) == Set(alone.map(\.id)))
    #expect(Set(found.needs) == Set(missing.map(\.id)))
  }

  @Test("Its client finds the same as is so, with messages of any limit", arguments: seeds(3), [4_096, 60_000])
  func answering(seed: UInt64, limit: Int) throws {
    let sdk = try SDK()
    var random = SeededGenerator(seed: seed)
    var sets = TwoSets(&random)
    // It counts time up to 2^63-1.
    while sets.here.records.last?.timestamp ?? 0 > 1 << 40 || sets.there.records.last?.timestamp ?? 0 > 1 << 40 {
      sets = TwoSets(&random)
    }
    let there = Reconciler(sets.there, messageByteMaximum: limit)
    var heard = try sdk.ask("sync", sets.here.records.map { "\($0.timestamp) \($0.id)" })
    while heard.first == "ask" {
      let answer = try there.answer(to: sdk.bytes(heard[1]))
      heard = try sdk.ask("answer", Hexadecimal.text(of: answer))
    }
    #expect(heard.first == "done", "\(heard.prefix(2))")
    let expected = sets.left.map { "have \($0.id)" } + sets.right.map { "need \($0.id)" }
    #expect(Set(heard.dropFirst()) == Set(expected))
  }

  private func record(_ text: String) throws -> ReconcileRecord {
    let words = text.split(separator: " ")
    return ReconcileRecord(
      timestamp: try #require(words.first.flatMap { UInt64($0) }),
      id: try #require(words.last.flatMap { EventID(String($0)) }))
  }
}

/// The peer, with the commands of `negentropy_lines.py`.
private struct SDK {
  private let peer: LinePeer

  init() throws { peer = try LinePeer("negentropy_lines.py") }

  func ask(_ command: String, _ argument: String) throws -> [String] { try ask(command, [argument]) }

  func ask(_ command: String, _ arguments: [String]) throws -> [String] {
    let line = try JSONEncoder().encode([command] + arguments)
    struct Answer: Decodable { let ok: [String]?, error: String? }
    let answer = try JSONDecoder().decode(Answer.self, from: Data(peer.ask(Array(line), within: 120)))
    guard let ok = answer.ok else { throw Refused(command: command, reason: answer.error ?? "") }
    return ok
  }

  func bytes(_ text: String) throws -> [UInt8] { try #require(Hexadecimal.decode(text.utf8)) }

  struct Refused: Error { let command: String, reason: String }
}
