import Clocks
import PushDelivery
import TestSupport
import Testing

@testable import PushLedger

// The board, the book of settlements and refills together, over a ledger that takes its time: what is read is old when
// it is handed in, how pushes ended is written later or not at all for a while, and platforms answer in between.

@Suite("The queue between the ledger and the delivery board")
struct QueueProperties {
  @Test("brings each wake to each device once, and leaves none behind, however slow the disk", arguments: seeds(60))
  func once(seed: UInt64) {
    var play = QueuePlay(seed: seed)
    for _ in 0..<800 { play.step() }
    play.end()
  }
}

private struct QueuePlay {
  struct Key: Hashable {
    let wake: Int64
    let device: Int64
  }

  /// A refill, and the page that it has read and not looked at.
  struct Reading {
    var refill: QueueRefill
    var page: [OpenWake]?
  }

  static let pageCount = 3
  static let beginning: Int64 = 1_700_000_000_000

  var random: SeededGenerator
  var board: DeliveryQueue
  var book = PendingSettlements()
  var rows: [Int64: OpenWake] = [:]
  var next: Int64 = 1
  var frontier: Int64 = 0
  var readings: [Reading] = []
  var isWriting = false
  var batch: [WakeSettlement] = []
  var isDiskFull = false
  var now: UInt64 = 0
  var inFlight: Set<Key> = []
  var delivered: Set<Key> = []
  /// Whether all platforms have much to do, or one.
  let isBusy: Bool
  let devices: [PushOwner: [PushDevice]]

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    isBusy = Bool.random(using: &random)
    var limits = DeliveryLimits()
    limits.platformWakeMaximum = Int.random(in: 2...8, using: &random)
    limits.appleInFlightMaximum = Int.random(in: 1...3, using: &random)
    limits.coalescingMilliseconds = 0
    limits.breaker.failureMaximum = .max
    board = DeliveryQueue(limits: limits, seed: seed)
    let tokens: [[PushToken]] = [
      [LedgerBench.token(1)], [.google(String(repeating: "g", count: 40))],
      [LedgerBench.token(2), .google(String(repeating: "h", count: 40))],
    ]
    var devices: [PushOwner: [PushDevice]] = [:]
    var number: Int64 = 0
    for (index, tokens) in tokens.enumerated() {
      let owner = LedgerBench.owner(UInt8(index + 1))
      for token in tokens {
        number += 1
        var device = PushDevice(
          owner: owner, id: "\(number)", relayID: "", token: token, capabilities: [], registeredAt: 0,
          expiresAt: 1_800_000_000)
        device.number = number
        devices[owner, default: []].append(device)
      }
    }
    self.devices = devices
  }

  var moment: PushMoment {
    PushMoment(
      instant: Instant(nanoseconds: 0).advanced(milliseconds: now), unixMilliseconds: Self.beginning + Int64(now))
  }

  mutating func step() {
    switch Int.random(in: 0..<16, using: &random) {
    case 0..<4: if !isDiskFull { accept() }
    case 4: readOn()
    case 5..<9: answer()
    case 9..<12: goOn()
    case 12, 13: write()
    case 14: isDiskFull = Int.random(in: 0..<3, using: &random) == 0
    default: pass()
    }
  }

  private mutating func accept() {
    // Some platforms have so little to do that they never want for room, and are never read for.
    let recipient: UInt8 =
      Int.random(in: 0..<6, using: &random) == 0 ? 2 : isBusy ? UInt8.random(in: 1...3, using: &random) : 1
    var wake = Wake(
      id: [], recipient: LedgerBench.owner(recipient), sender: nil, type: "x",
      payload: nil, nonce: [], acceptedAt: moment.unixMilliseconds, expiresAt: .max / 4)
    wake.number = next
    rows[next] = OpenWake(wake: wake, settledDevices: [])
    next += 1
    if Int.random(in: 0..<8, using: &random) == 0 { readOn() }
  }

  private func page(after number: Int64) -> [OpenWake] {
    Array(
      rows.values.filter { $0.wake.number > number }.sorted { $0.wake.number < $1.wake.number }.prefix(Self.pageCount))
  }

  private mutating func readOn() {
    while true {
      let page = page(after: frontier)
      for open in page {
        frontier = open.wake.number
        perform(board.accepted(open.wake, for: open.devices(of: devices[open.wake.recipient] ?? []), at: moment))
      }
      if page.count < Self.pageCount { return }
    }
  }

  /// One of the readings goes one step on: it reads a page, looks at it, or hands in what it has.
  private mutating func goOn() {
    guard !readings.isEmpty else { return }
    let index = Int.random(in: 0..<readings.count, using: &random)
    var reading = readings[index]
    if let page = reading.page {
      let wanted = reading.refill.read(page, isWhole: page.count == Self.pageCount) {
        board.has($0) || book.hasEnded($0)
      }
      reading.refill.add(wanted, devices: devices)
      reading.page = nil
    } else if !reading.refill.isDone {
      reading.page = page(after: reading.refill.after)
    } else {
      readings.remove(at: index)
      let refill = reading.refill
      let found = refill.found.filter { !book.hasEnded($0.wake.number) }
      book.readingEnded()
      return perform(board.restored(found, on: refill.platform, isAll: refill.isAll, at: moment))
    }
    readings[index] = reading
  }

  private mutating func answer() {
    guard let key = inFlight.sorted(by: { ($0.wake, $0.device) < ($1.wake, $1.device) }).randomElement(using: &random)
    else { return }
    inFlight.remove(key)
    let isDelivered = Int.random(in: 0..<4, using: &random) > 0
    if isDelivered { delivered.insert(key) }
    let verdict: PushVerdict = isDelivered ? .delivered : .retry(afterMilliseconds: nil, "x")
    perform(board.settled(wake: key.wake, device: key.device, verdict, at: moment))
  }

  /// A transaction begins, or ends in one way or the other.
  private mutating func write() {
    guard isWriting else {
      batch = book.take()
      isWriting = true
      return
    }
    isWriting = false
    if isDiskFull { return book.failed() }
    for settlement in batch where settlement.end != nil { rows[settlement.wake] = nil }
    for settlement in batch where settlement.end == nil {
      rows[settlement.wake]?.settledDevices.formUnion(settlement.devices)
    }
    book.written()
  }

  private mutating func pass() {
    now += UInt64.random(in: 0...2_000, using: &random)
    if Bool.random(using: &random) { book.pauseEnded() }
    perform(board.timerFired(at: moment))
  }

  private mutating func perform(_ actions: [DeliveryAction]) {
    for action in actions {
      switch action {
      case .send(let delivery):
        let key = Key(wake: delivery.wake.number, device: delivery.device.number)
        #expect(!delivered.contains(key), "wake \(key.wake) comes to device \(key.device) again")
        #expect(inFlight.insert(key).inserted)
      case .done(let wake, let outcome):
        #expect(outcome == .delivered)
        book.add(WakeSettlement(wake: wake, devices: [], end: .delivered))
      case .ended(let wake, let device): book.add(WakeSettlement(wake: wake, devices: [device]))
      case .needs(let count, let platform):
        book.readingBegan()
        readings.append(Reading(refill: QueueRefill(count, on: platform, upTo: frontier)))
      default: break
      }
    }
  }

  /// The disk works again, and everything is answered.
  mutating func end() {
    isDiskFull = false
    for _ in 0..<20_000 where !rows.isEmpty || !book.isEmpty {
      readOn()
      answer()
      for _ in 0..<3 { goOn() }
      write()
      pass()
    }
    #expect(rows.isEmpty && inFlight.isEmpty && board.count == 0, "\(rows.keys.sorted()) are left")
    #expect(Set(delivered.map(\.wake)) == Set(1..<next))
  }
}
