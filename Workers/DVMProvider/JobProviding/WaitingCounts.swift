internal import Contracts
internal import Cryptography
internal import DequeModule
internal import Nostr

// Where requests wait, and for how many there is room.
//
// Keys cost nothing, so whatever bound there is for one stranger, as many of them as he likes reach the bound for all.
// Hence strangers have a share of the room, all together, and what is left is for customers who are known: the accounts
// of this machine. These may have the strangers' share too while it is empty, but no stranger can take theirs.
//
// A stranger's bill is no work that waits: it lies there until it is paid or its time is over, an hour perhaps, and
// costs him nothing. In the room it would keep out those who wait for a moment. So bills are counted by themselves, and
// where there are too many the one that was told first gives way. Only one that was told does: were it any, a flood of
// requests would end each bill before the signer came to it, and nobody would ever see one. What has given way counts
// until its customer knows. So the signer and the relays set the pace, and none waits that is not in one of the bounds.

/// Counts what waits, by whose it is and what it waits for.
struct WaitingCounts: Sendable {
  /// What a request that is not worked on counts as.
  enum Seat: Sendable, Hashable {
    /// Of a customer who is known.
    case ours
    /// Of a stranger: it waits for its turn, or to be answered.
    case stranger
    /// A stranger's bill that is to be signed and published.
    case newBill
    /// A stranger's bill that he was told.
    case toldBill
    /// A stranger's bill that holds no more, which he is to be told.
    case endedBill

    fileprivate var isUnpaidBill: Bool { self == .newBill || self == .toldBill }
  }

  private var seats: [EventID: Seat] = [:]
  private var counts: [Seat: Int] = [:]
  private var waitingByStranger: [PublicKey: Int] = [:]
  private var billsByStranger: [PublicKey: Int] = [:]
  /// The bills that strangers were told, the first one first.
  private var told = Deque<(id: EventID, customer: PublicKey)>()

  /// Seats a request, or another one than it had, or none.
  ///
  /// - Parameters:
  ///   - request: as it is now.
  ///   - isStranger: whether its customer is none that is known.
  ///   - isRunning: whether it has a place where work is done, which is not in the room.
  mutating func seat(_ request: ServedRequest, isStranger: Bool, isRunning: Bool) {
    let old = seats[request.id]
    let new: Seat? = isRunning ? nil : isStranger ? Self.strangersSeat(request, after: old) : .ours
    guard old != new else { return }
    leave(request.id, of: request.customer)
    if let new { take(new, request.id, request.customer) }
  }

  private mutating func take(_ seat: Seat, _ id: EventID, _ customer: PublicKey) {
    seats[id] = seat
    counts[seat, default: 0] += 1
    if seat == .stranger { waitingByStranger[customer, default: 0] += 1 }
    if seat.isUnpaidBill { billsByStranger[customer, default: 0] += 1 }
    if seat == .toldBill { told.append((id, customer)) }
  }

  private static func strangersSeat(_ request: ServedRequest, after old: Seat?) -> Seat {
    if request.state == .paymentRequired { return request.isTold ? .toldBill : .newBill }
    guard let old, old.isUnpaidBill || old == .endedBill else { return .stranger }
    return request.state == .waiting ? .stranger : .endedBill
  }

  /// A request does not wait any more.
  mutating func leave(_ id: EventID, of customer: PublicKey) {
    guard let seat = seats.removeValue(forKey: id) else { return }
    counts.countDown(seat)
    if seat == .stranger { waitingByStranger.countDown(customer) }
    if seat.isUnpaidBill { billsByStranger.countDown(customer) }
    if seat == .toldBill, let place = told.firstIndex(where: { $0.id == id }) { told.remove(at: place) }
  }

  /// Why there is no room for a request of a customer who is known; nil when there is.
  func objection(_ rules: ServingRules) -> PassedOver? {
    // Work of strangers that has ended comes back to be signed, beyond their share; that is not at the cost of others.
    let strangers = min(count(.stranger), rules.waitingMaximum / 2)
    return count(.ours) + strangers < rules.waitingMaximum ? nil : .full
  }

  /// Why there is no room for the request of a stranger, which costs nothing; nil when there is.
  func objection(toStranger customer: PublicKey, _ rules: ServingRules) -> PassedOver? {
    guard count(.ours) + count(.stranger) < rules.waitingMaximum, count(.stranger) < rules.strangersMaximum else {
      return .full
    }
    return waitingByStranger[customer, default: 0] < rules.strangerMaximum ? nil : .customerFull
  }

  /// Why there is no room for the bill of a stranger; nil when there is, also if another one has to give way.
  func objection(toBillOf customer: PublicKey, _ rules: ServingRules) -> PassedOver? {
    let isOverOwnShare = billsByStranger[customer, default: 0] >= rules.strangerMaximum
    guard isOverOwnShare || unpaidBillCount >= rules.strangersMaximum else { return nil }
    if count(.endedBill) < rules.strangersMaximum, billGivingWay(to: customer, rules) != nil { return nil }
    return isOverOwnShare ? .customerFull : .full
  }

  /// The bill that has to give way for one of this stranger: of those told the first, his own when he has his share.
  func billGivingWay(to customer: PublicKey, _ rules: ServingRules) -> EventID? {
    if billsByStranger[customer, default: 0] >= rules.strangerMaximum {
      return told.first { $0.customer == customer }?.id
    }
    return unpaidBillCount >= rules.strangersMaximum ? told.first?.id : nil
  }

  /// Seats a request that was turned away and will come again, if there is a free place for it.
  ///
  /// No bill gives way for it: it would be one turned away for another one that is.
  ///
  /// - Returns: whether there was one.
  mutating func seat(again request: RefusedRequests.Request, isStranger: Bool, _ rules: ServingRules) -> Bool {
    let customer = request.customer
    let seat: Seat
    switch (isStranger, request.isForMoney) {
    case (false, _):
      guard objection(rules) == nil else { return false }
      seat = .ours
    case (true, false):
      guard objection(toStranger: customer, rules) == nil else { return false }
      seat = .stranger
    case (true, true):
      guard unpaidBillCount < rules.strangersMaximum, billsByStranger[customer, default: 0] < rules.strangerMaximum
      else { return false }
      seat = .newBill
    }
    take(seat, request.id, customer)
    return true
  }

  private var unpaidBillCount: Int { count(.newBill) + count(.toldBill) }

  private func count(_ seat: Seat) -> Int { counts[seat, default: 0] }
}

extension Dictionary where Value == Int {
  /// One less; nothing is kept of none.
  mutating func countDown(_ key: Key) {
    guard let count = self[key] else { return }
    self[key] = count > 1 ? count - 1 : nil
  }
}
