import Clocks
import Contracts
import Cryptography
import Nostr
import NostrContracts
import TestSupport
import Testing

/// The RAW layouts of `signer.open`.
@Suite("Runs of gift wraps") struct WrapRunTests {
  private static let account = SecretKey.generate().publicKey
  private static let wraps = [[], [7], Array("{}".utf8), [UInt8](repeating: 9, count: 70_000)]

  private static func octets(_ byte: UInt8) -> Octets32 {
    [UInt8](repeating: byte, count: Octets32.byteCount).withUnsafeBytes { bytes in
      guard let address = bytes.baseAddress else { preconditionFailure("32 bytes have an address") }
      return Octets32(at: address)
    }
  }

  private static func opened(_ rumor: [UInt8]) -> WrapOutcome {
    .opened(OpenedWrap(author: PublicKey(octets(1)), id: EventID(octets(2)), rumor: rumor))
  }

  private static let outcomes: [WrapOutcome] =
    [opened(Array("{\"id\":1}".utf8)), opened([])]
    + WrapRefusal.Code.allCases.map { .refused(WrapRefusal($0, "the reason: é")) } + [opened([0, 255])]

  @Test("A run is read as it was written, an empty and a full one too")
  func runs() throws {
    for wraps in [Self.wraps, [], Array(repeating: [1, 2], count: WrapRun.countMaximum)] {
      let run = WrapRun(account: Self.account, wraps: wraps)
      #expect(try WrapRun.decode(run.encode()) == run)
      let size = wraps.reduce(WrapRun.headerByteCount) { $0 + WrapRun.recordHeaderByteCount + $1.count }
      #expect(run.encode().count == size)
    }
  }

  @Test("A run is drawn as the layout says: account, count, and each wrap behind its size")
  func drawn() {
    let run = WrapRun(account: PublicKey(Self.octets(5)), wraps: [[0x7B, 0x7D]])
    #expect(run.encode() == [UInt8](repeating: 5, count: 32) + [1, 0, 0, 0, 2, 0, 0, 0, 0x7B, 0x7D])
  }

  @Test("A run or its outcomes that are cut anywhere, or go on, are refused")
  func cut() {
    let run = WrapRun(account: Self.account, wraps: Array(Self.wraps.prefix(3))).encode()
    for count in run.indices {
      #expect(throws: WrapRun.Problem.self, "\(count)") { try WrapRun.decode(Array(run.prefix(count))) }
    }
    #expect(throws: WrapRun.Problem.self) { try WrapRun.decode(run + [0]) }
    let answer = WrapOutcomes(Self.outcomes).encode()
    for count in answer.indices {
      #expect(throws: WrapRun.Problem.self, "\(count)") { try WrapOutcomes.decode(Array(answer.prefix(count))) }
    }
    #expect(throws: WrapRun.Problem.self) { try WrapOutcomes.decode(answer + [0]) }
  }

  @Test("A count above the most, a size beyond the end and an unknown outcome are refused before anything is kept")
  func bounds() throws {
    let header = Self.account.octets.bytes
    #expect(throws: WrapRun.Problem.self) { try WrapRun.decode(header + [1, 1, 0, 0]) }
    let many = header + [1, 1, 0, 0] + [UInt8](repeating: 0, count: 4 * 257)
    #expect(throws: WrapRun.Problem.self) { try WrapRun.decode(many) }
    #expect(throws: WrapRun.Problem.self) { try WrapRun.decode(header + [255, 255, 255, 255]) }
    #expect(throws: WrapRun.Problem.self) { try WrapRun.decode(header + [1, 0, 0, 0, 255, 255, 255, 255]) }
    #expect(throws: WrapRun.Problem.self) { try WrapOutcomes.decode([1, 1, 0, 0]) }
    let record: [UInt8] = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    #expect(try WrapOutcomes.decode(record) == WrapOutcomes([.refused(WrapRefusal(.malformed, ""))]))
    for (place, value) in [(4, 77), (5, 1), (7, 1), (8, 201), (11, 255)] as [(Int, UInt8)] {
      var wrong = record
      wrong[place] = value
      #expect(throws: WrapRun.Problem.self, "\(place)") { try WrapOutcomes.decode(wrong) }
    }
    let long = [1, 0, 0, 0, 1, 0, 0, 0, 201, 0, 0, 0] + [UInt8](repeating: 0x61, count: 201)
    #expect(throws: WrapRun.Problem.self) { try WrapOutcomes.decode(long) }
    #expect(throws: WrapRun.Problem.self) { try WrapOutcomes.decode([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0xFF]) }
  }

  @Test("Outcomes are read as they were written, and 256 refusals fit into the smallest frame")
  func outcomes() throws {
    #expect(try WrapOutcomes.decode(WrapOutcomes(Self.outcomes).encode()) == WrapOutcomes(Self.outcomes))
    #expect(try WrapOutcomes.decode(WrapOutcomes([]).encode()).list.isEmpty)
    let long = WrapRefusal(.undecryptable, String(repeating: "é", count: 1_000))
    #expect(long.reason == String(repeating: "é", count: 100))
    let full = WrapOutcomes(Array(repeating: .refused(long), count: WrapRun.countMaximum))
    #expect(full.encode().count < 60 << 10)
    #expect(try WrapOutcomes.decode(full.encode()) == full)
  }

  @Test("Bytes that were changed are read or refused, and what is read can be written again", arguments: seeds(8))
  func changed(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let run = WrapRun(account: Self.account, wraps: Array(Self.wraps.prefix(3))).encode()
    let answer = WrapOutcomes(Self.outcomes).encode()
    for _ in 0..<500 {
      var (run, answer) = (run, answer)
      run[Int.random(in: run.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      answer[Int.random(in: answer.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      if case .success(let read) = Result(catching: { try WrapRun.decode(run) }) { #expect(read.encode() == run) }
      if case .success(let read) = Result(catching: { try WrapOutcomes.decode(answer) }) {
        #expect(read.encode() == answer)
      }
    }
  }

  @Test("Every code has its own word, which stays")
  func words() {
    let words = WrapRefusal.Code.allCases.map(\.description)
    #expect(
      words == [
        "malformed", "not-a-gift-wrap", "too-large", "not-for-this-account", "undecryptable", "not-a-seal",
        "forged-seal", "malformed-rumor", "wrong-author",
      ])
    #expect(WrapRefusal.Code.allCases.map(\.rawValue) == Array(1...9))
    #expect("\(WrapRefusal(.forgedSeal, "the signature is wrong"))" == "forged-seal: the signature is wrong")
  }
}
