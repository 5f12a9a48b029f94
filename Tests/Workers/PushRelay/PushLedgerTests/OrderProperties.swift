import Cryptography
import PushDelivery
import PushLedger
import Storage
import TestSupport
import Testing

@Suite("Signed messages in any order")
struct OrderProperties {
  private static let owners = [LedgerBench.alice, LedgerBench.bob]

  /// Messages of two owners about three devices each, every one of another second.
  private static func messages(_ bench: LedgerBench, _ random: inout SeededGenerator) -> [PushWrite] {
    (1...14).map { second in
      let index = Int.random(in: 0..<2, using: &random)
      let owner = owners[index]
      let device = Int.random(in: 0..<3, using: &random)
      let at = Int64(second)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: return .unregister(bench.removal(owner, .device("\(device)"), at: at))
      case 1: return .unregister(bench.removal(owner, .unnamed, at: at))
      case 2:
        let contact = LedgerBench.owner(UInt8(device + 10))
        return .contacts(
          ContactsCommand(
            message: bench.message(owner, at: at), contacts: [contact: .allowed], policy: "p\(second)",
            keepUntil: LedgerBench.now + 1_000))
      default:
        // A device has two tokens of its own that it goes back and forth between; the last has no name.
        let token = LedgerBench.token(index * 100 + device * 10 + (device == 2 ? 0 : second % 2))
        return .register(bench.registration(owner, device == 2 ? nil : "\(device)", token, at: at))
      }
    }
  }

  private static func state(_ ledger: PushLedger) async throws -> [String] {
    var lines: [String] = []
    for owner in owners {
      for device in try await ledger.devices(of: owner, now: LedgerBench.now) {
        lines.append("\(device.id.prefix(2)) \(device.token) \(device.registeredAt) \(device.isVerified)")
      }
      let contacts = try await ledger.contacts(of: owner)
      lines.append("\(contacts.contacts.keys.map(\.key.description).sorted()) \(contacts.policy ?? "")")
    }
    return lines.sorted()
  }

  @Test(
    "Every order of the same messages, each once or more often, in any batches, ends in the same state",
    arguments: seeds(12))
  func orders(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let bench = try LedgerBench()
    let messages = Self.messages(bench, &random)
    for message in messages { try bench.run(message) }
    let expected = try await Self.state(bench.ledger)
    for _ in 0..<4 {
      let other = try LedgerBench()
      var rest = (messages + messages.filter { _ in Bool.random(using: &random) }).shuffled(using: &random)[...]
      var answers: [LedgerAnswer] = []
      while !rest.isEmpty {
        let count = Int.random(in: 1...4, using: &random)
        answers += try other.ledger.writeNow(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
        if Int.random(in: 0..<8, using: &random) == 0 { try other.reopen() }
      }
      #expect(try await Self.state(other.ledger) == expected)
    }
  }

  @Test("Whatever is done, the rows that are counted are the rows that there are", arguments: seeds(6))
  func counters(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let bench = try LedgerBench()
    for round in 0..<60 {
      let owner = LedgerBench.owner(UInt8.random(in: 0..<6, using: &random))
      let at = Int64(round * 20)
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        try bench.run(.wake(bench.wake(owner, LedgerBench.owner(UInt8.random(in: 0..<6, using: &random)), at: at)))
      case 1: try bench.run(.sweep(now: (LedgerBench.now + at) * 1_000, limit: 3))
      case 2: try bench.run(.unregister(bench.removal(owner, .device("1"), at: at)))
      case 3:
        if let open = try await bench.openWakes().randomElement(using: &random) {
          try bench.run(.settle([WakeSettlement(wake: open.wake.number, devices: [1], end: .failed)]))
        }
      default:
        let number = Int.random(in: 0..<14, using: &random)
        try bench.register(owner, "\(number)", LedgerBench.token(number), at: at)
      }
    }
    #expect(try bench.miscounted() == [])
  }
}
