internal import Contracts
internal import Cryptography
internal import DequeModule
internal import Nostr

// The room in which requests wait.
//
// Keys cost nothing: whatever the bound for one stranger is, enough strangers reach the bound for all. So all strangers
// together have a share of the room, and the rest is for known customers: the accounts of this machine. These may also
// use the strangers' share while it is empty, but no stranger can use theirs.
//
// A stranger's bill is not work that waits. It stays until it is paid or its time is over, perhaps for an hour, and
// costs the stranger nothing. In the room it would displace requests that wait only for a moment. So bills are counted
// separately, and when there are too many, the bill that was sent first ends. Only a bill that was sent can end:
// otherwise a flood of requests would end each bill before the signer came to it, and no customer would ever get one.
// An ended bill counts until its error is published. So the signer and the relays set the pace, and every request that
// waits is within one of the bounds.

/// Counts waiting requests, by customer and by what they wait for.
struct WaitingCounts: Sendable {
  /// What a request counts as that is not being worked on.
  enum Seat: Sendable, Hashable {
    /// A known customer's request.
    case ours
    /// A stranger's request that waits for its turn, or for its answer to be signed and accepted.
    case stranger
    /// A stranger's bill that is to be signed and published.
    case newBill
    /// A stranger's bill that was sent.
    case toldBill
    /// A stranger's bill that has ended and whose error is not published yet.
    case endedBill

    fileprivate var isUnpaidBill: Bool { self == .newBill || self == .toldBill }
  }

  private var seats: [EventID: Seat] = [:]
  private var counts: [Seat: Int] = [:]
  private var waitingByStranger: [PublicKey: Int] = [:]
  private var billsByStranger: [PublicKey: Int] = [:]
  /// The bills that were sent to strangers, in the order in which they were sent.
  private var told = Deque<(id: EventID, customer: PublicKey)>()

  /// Gives a request a seat, moves it to another one, or takes its seat away.
  ///
  /// - Parameters:
  ///   - request: as it is now.
  ///   - isStranger: whether its customer is a stranger.
  ///   - isRunning: whether it is being worked on; then it is not in the room.
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

  /// A request no longer waits.
  mutating func leave(_ id: EventID, of customer: PublicKey) {
    guard let seat = seats.removeValue(forKey: id) else { return }
    counts.countDown(seat)
    if seat == .stranger { waitingByStranger.countDown(customer) }
    if seat.isUnpaidBill { billsByStranger.countDown(customer) }
    if seat == .toldBill, let place = told.firstIndex(where: { $0.id == id }) { told.remove(at: place) }
  }

  /// Why there is no room for a request of a known customer; nil if there is room.
  func objection(_ rules: ServingRules) -> PassedOver? {
    // A stranger's request comes back after its work, to be signed, and may then exceed the strangers' share. Known
    // customers do not lose room by that.
    let strangers = min(count(.stranger), rules.waitingMaximum / 2)
    return count(.ours) + strangers < rules.waitingMaximum ? nil : .full
  }

  /// Why there is no room for a stranger's request that costs nothing; nil if there is room.
  func objection(toStranger customer: PublicKey, _ rules: ServingRules) -> PassedOver? {
    guard count(.ours) + count(.stranger) < rules.waitingMaximum, count(.stranger) < rules.strangersMaximum else {
      return .full
    }
    return waitingByStranger[customer, default: 0] < rules.strangerMaximum ? nil : .customerFull
  }

  /// Why there is no room for a stranger's bill; nil if there is room, or if another bill can end for it.
  func objection(toBillOf customer: PublicKey, _ rules: ServingRules) -> PassedOver? {
    let isOverOwnShare = billsByStranger[customer, default: 0] >= rules.strangerMaximum
    guard isOverOwnShare || unpaidBillCount >= rules.strangersMaximum else { return nil }
    if count(.endedBill) < rules.strangersMaximum, billGivingWay(to: customer, rules) != nil { return nil }
    return isOverOwnShare ? .customerFull : .full
  }

  /// The bill that ends for a new one of this stranger: the one that was sent first, or this stranger's own first one
  /// if its share is full; nil if none has to.
  func billGivingWay(to customer: PublicKey, _ rules: ServingRules) -> EventID? {
    if billsByStranger[customer, default: 0] >= rules.strangerMaximum {
      return told.first { $0.customer == customer }?.id
    }
    return unpaidBillCount >= rules.strangersMaximum ? told.first?.id : nil
  }

  /// Gives a seat to a request that found no room and will come again, if there is room now.
  ///
  /// No bill ends for it: that would turn one request away for another.
  ///
  /// - Returns: whether there was room.
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
  /// Counts down by one, and removes the key at zero.
  mutating func countDown(_ key: Key) {
    guard let count = self[key] else { return }
    self[key] = count > 1 ? count - 1 : nil
  }
}
