import PushDelivery
import Testing

@testable import PushLedger

@Suite("How pushes ended, until it is written")
struct SettlementTests {
  private var book = PendingSettlements()

  private func ended(_ wake: Int64) -> WakeSettlement { WakeSettlement(wake: wake, devices: [], end: .delivered) }

  @Test("What is said of one wake is one entry, and its end is the last word, also after a failure")
  mutating func joining() {
    book.add(WakeSettlement(wake: 1, devices: [1]))
    book.add(WakeSettlement(wake: 1, devices: [2]))
    book.add(WakeSettlement(wake: 2, devices: [3]))
    #expect(book.take() == [WakeSettlement(wake: 1, devices: [1, 2]), WakeSettlement(wake: 2, devices: [3])])
    book.add(WakeSettlement(wake: 2, devices: [4]))
    book.add(ended(1))
    book.failed()
    book.pauseEnded()
    #expect(book.count == 2)
    #expect(Set(book.take()) == [ended(1), WakeSettlement(wake: 2, devices: [3, 4])])
    book.written()
    #expect(book.isEmpty && book.take().isEmpty)
  }

  @Test("A wake that has ended stays ended until that is written, and until whoever read before has done")
  mutating func ends() {
    book.add(WakeSettlement(wake: 1, devices: [1]))
    #expect(!book.hasEnded(1))
    book.add(ended(1))
    #expect(book.hasEnded(1))
    _ = book.take()
    book.failed()
    #expect(book.hasEnded(1))
    book.pauseEnded()
    _ = book.take()
    book.readingBegan()
    book.readingBegan()
    book.written()
    #expect(book.hasEnded(1) && book.isEmpty)
    book.readingEnded()
    #expect(book.hasEnded(1))
    book.readingEnded()
    #expect(!book.hasEnded(1))
  }

  @Test("After a failure nothing is due before the pause is over or something else was written, however much waits")
  mutating func pause() {
    for wake in 1..<Int64(PendingSettlements.batchMaximum) { book.add(ended(wake)) }
    #expect(!book.isDue)
    book.add(ended(1_000))
    #expect(book.isDue)
    #expect(book.take().count == PendingSettlements.batchMaximum)
    book.failed()
    for wake in 2_000..<Int64(3_000) { book.add(ended(wake)) }
    #expect(!book.isDue && book.take().isEmpty)
    book.failed()
    book.pauseEnded()
    #expect(book.isDue && book.take().map(\.wake) == Array(1..<500) + [1_000])
    book.failed()
    #expect(book.take().isEmpty)
    // A request was written: the disk takes it again.
    book.written()
    #expect(book.isDue && book.count == 1_500)
  }

  @Test("It is full at its bound, and what is being written counts")
  mutating func bound() {
    for wake in 1..<Int64(PendingSettlements.roomMaximum) { book.add(ended(wake)) }
    _ = book.take()
    #expect(!book.isFull)
    book.add(ended(0))
    #expect(book.isFull && book.all.count == PendingSettlements.roomMaximum)
    book.written()
    #expect(!book.isFull && book.all.count == PendingSettlements.roomMaximum - PendingSettlements.batchMaximum)
  }
}

@Suite("A refill of the delivery board")
struct RefillTests {
  private static func open(_ number: Int64, of owner: PushOwner, isDropped: Bool = false) -> OpenWake {
    var wake = Wake(
      id: [], recipient: owner, sender: nil, type: "x", payload: nil, nonce: [], acceptedAt: 0, expiresAt: 1)
    wake.number = number
    return OpenWake(wake: wake, settledDevices: [], isDropped: isDropped)
  }

  private static func device(_ number: Int64, _ owner: PushOwner, _ token: PushToken) -> PushDevice {
    var device = PushDevice(
      owner: owner, id: "\(number)", relayID: "", token: token, capabilities: [], registeredAt: 0, expiresAt: 1)
    device.number = number
    return device
  }

  @Test("takes what is for its platform, up to the frontier, and leaves the rest to whoever it is for")
  func frontier() {
    let (alice, bob) = (LedgerBench.alice, LedgerBench.bob)
    let devices = [
      alice: [Self.device(1, alice, LedgerBench.token(1))],
      bob: [Self.device(2, bob, .google(String(repeating: "g", count: 40)))],
    ]
    var refill = QueueRefill(10, on: .ios, upTo: 4)
    let page = [
      Self.open(1, of: alice), Self.open(2, of: bob), Self.open(3, of: alice, isDropped: true),
      Self.open(4, of: alice), Self.open(5, of: alice),
    ]
    let wanted = refill.read(page, isWhole: true) { $0 == 1 }
    refill.add(wanted, devices: devices)
    #expect(wanted.map(\.wake.number) == [2, 4] && refill.found.map(\.wake.number) == [4])
    #expect(refill.isDone && refill.isAll, "behind the frontier is nothing of its own")
    #expect(QueueRefill(10, on: .ios, upTo: 0).isDone)
  }

  @Test("ends with as many as there is room for, and says whether there are others")
  func room() {
    let alice = LedgerBench.alice
    for last in [2, 3] as [Int64] {
      var refill = QueueRefill(2, on: .ios, upTo: last)
      let devices = [alice: [Self.device(1, alice, LedgerBench.token(1))]]
      for first in [1, 3] as [Int64] where !refill.isDone {
        let page = (first...first + 1).map { Self.open($0, of: alice) }
        refill.add(refill.read(page, isWhole: true) { _ in false }, devices: devices)
      }
      #expect(refill.isDone && refill.found.count == 2 && refill.isAll == (last == 2))
    }
  }
}
