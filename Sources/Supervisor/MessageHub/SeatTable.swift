internal import Contracts
internal import Frames

/// All seats: which are free, and which workers have a role.
struct SeatTable {
  /// Every seat, free ones among them, by number.
  private(set) var all: [Seat] = [Seat(index: .supervisor)]
  private var free: [SeatIndex] = []
  private var membersByRole: [UInt16: [SeatIndex]] = [:]

  init() { all[0].name = Role.supervisor.name }

  subscript(seat: SeatIndex) -> Seat {
    // Lent, not copied: most readers want one field of many.
    @inline(__always) _read { yield all[seat.number] }
    @inline(__always) _modify { yield &all[seat.number] }
  }

  /// The seat of a connection that is there, or was the last on its seat; nil when the endpoint is another's.
  func holder(of endpoint: Endpoint) -> SeatIndex? {
    guard endpoint.role == nil, endpoint.seat < all.count, all[endpoint.seat].endpoint == endpoint else { return nil }
    return SeatIndex(of: endpoint)
  }

  /// The seat whose present tenant an endpoint reaches, over its present connection or an earlier one.
  func tenant(at endpoint: Endpoint) -> SeatIndex? {
    guard endpoint.seat > 0, endpoint.seat < all.count else { return nil }
    let seat = SeatIndex(of: endpoint)
    return self[seat].state != .free && self[seat].isReached(by: endpoint) ? seat : nil
  }

  /// The workers of a role.
  func members(of role: UInt16) -> [SeatIndex] { membersByRole[role] ?? [] }

  /// Takes a free seat; nil when all 4,095 are taken.
  mutating func take(name: String, role: Role) -> SeatIndex? {
    var seat = free.popLast()
    if seat == nil, all.count <= Endpoint.seatMaximum {
      seat = SeatIndex(all.count)
      all.append(Seat(index: SeatIndex(all.count)))
    }
    guard let seat else { return nil }
    self[seat].name = name
    self[seat].role = role.number
    return seat
  }

  /// Makes a taken seat a worker's, closed until its mailbox is opened.
  mutating func makeMember(_ seat: SeatIndex) {
    self[seat].isWorker = true
    self[seat].close("is not started yet", retryAfterMilliseconds: nil)
    // A turn of the seat's own, before a connection joins: so the first connection does not follow the last tenant's
    // directly, as the next connection of a worker that is back does (`Registry.member(at:role:)`).
    self[seat].turn += 1
    self[seat].firstTurn = self[seat].turn
    membersByRole[self[seat].role, default: []].append(seat)
  }

  /// Makes a seat free. Its turns continue, so that no later connection has an earlier one's endpoint.
  mutating func vacate(_ seat: SeatIndex) {
    if self[seat].isWorker { membersByRole[self[seat].role]?.removeAll { $0 == seat } }
    let turn = self[seat].turn
    self[seat] = Seat(index: seat)
    self[seat].turn = turn
    free.append(seat)
  }

  /// Whether every seat but the supervisor's is free.
  var isVacant: Bool { free.count == all.count - 1 && membersByRole.values.allSatisfy(\.isEmpty) }
}
