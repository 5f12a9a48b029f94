import Clocks
import Contracts
import Frames
import Testing

@testable import MessageHub

private let window = Window(frames: 8, bytes: 800)
private let peer = SeatIndex(1)

private func entry(_ byteCount: Int, _ header: FrameHeader, delivery: DeliveryIndex = .none) -> MailboxEntry {
  var header = header
  header.payloadByteCount = byteCount
  return MailboxEntry(header: header, payload: .stored([UInt8](repeating: 1, count: byteCount)), delivery: delivery)
}

@Suite("The hub's parts, each alone")
struct HubPartsTests {
  // MARK: Credit

  private func books() -> CreditBooks {
    var books = CreditBooks()
    books.open(peer, turn: 3, window: window)
    return books
  }

  private func announced(_ books: inout CreditBooks) -> [Credit] {
    var actions: [HubAction] = []
    books.announce(actions: &actions)
    return actions.compactMap { action in
      guard case .send(_, _, .stored(let bytes)) = action else { return nil }
      return bytes.withUnsafeBytes { Credit($0) }
    }
  }

  @Test("credit is spent until none is left, and a peer that could send nothing learns at once what came back")
  func spending() throws {
    var books = books()
    for _ in 0..<8 { try books.spend(peer, byteCount: 1) }
    #expect(throws: FrameViolation.self) { try books.spend(peer, byteCount: 1) }
    #expect(announced(&books).isEmpty)
    books.giveBack(to: peer, byteCount: 1)
    books.giveBack(to: peer, byteCount: 1)
    #expect(announced(&books) == [Credit(frames: 10, bytes: 802)], "one frame for both")
    #expect(announced(&books).isEmpty)
  }

  @Test("less than a quarter of the window is not announced")
  func lagging() throws {
    var books = books()
    try books.spend(peer, byteCount: 0)
    books.giveBack(to: peer, byteCount: 0)
    #expect(announced(&books).isEmpty)
    try books.spend(peer, byteCount: 0)
    books.giveBack(to: peer, byteCount: 0)
    #expect(announced(&books) == [Credit(frames: 10, bytes: 800)])
  }

  @Test("what an ended connection holds does not come back to the next one")
  func turns() throws {
    var books = books()
    for _ in 0..<8 { try books.spend(peer, byteCount: 100) }
    let holder = books.holder(peer)
    books.withhold(from: peer, byteCount: 100)
    books.giveBack(to: peer, byteCount: 100)
    books.close(peer)
    #expect(announced(&books).isEmpty, "what it would learn is forgotten")
    books.giveBackWithheld(to: peer, byteCount: 100)
    books.open(peer, turn: 4, window: window)
    books.giveBack(to: holder, byteCount: 100)
    #expect(announced(&books).isEmpty)
    #expect(books[peer].allowed == Credit(frames: 8, bytes: 800))
  }

  @Test("a client that is behind is owed its credit until it catches up")
  func behind() throws {
    var books = books()
    for _ in 0..<4 { try books.spend(peer, byteCount: 10) }
    books.fallBehind(peer)
    for _ in 0..<4 { books.giveBack(to: peer, byteCount: 10) }
    #expect(announced(&books).isEmpty && books[peer].owed == Credit(frames: 4, bytes: 40))
    books.catchUp(peer)
    #expect(announced(&books) == [Credit(frames: 12, bytes: 840)] && books[peer].owed == .zero)
  }

  @Test("the last quarter of a window is not withheld")
  func withheld() {
    var books = books()
    for _ in 0..<5 { books.withhold(from: peer, byteCount: 10) }
    #expect(!books[peer].overdraws(byteCount: 10))
    #expect(books[peer].overdraws(byteCount: 600), "of the bytes either")
    books.withhold(from: peer, byteCount: 10)
    #expect(books[peer].overdraws(byteCount: 10))
  }

  @Test("granted credit only grows, and its bytes may be overdrawn by one payload")
  func granted() {
    var granted = GrantedCredit(Window(frames: 2, bytes: 10))
    let isLess = granted.raise(to: Credit(frames: 1, bytes: 10))
    #expect(!isLess)
    granted.use(byteCount: 90)
    #expect(!granted.hasRoom)
    granted.raise(to: Credit(frames: 1, bytes: 100))
    #expect(granted.hasRoom, "the frames stay at two")
    #expect(!GrantedCredit().hasRoom)
  }

  // MARK: What waits

  @Test("a mailbox counts what it keeps, work and answers apart, and loses the count with the entry")
  func mailbox() {
    var mailbox = Mailbox()
    let (own, other) = (Endpoint(seat: 1, turn: 1), Endpoint(seat: 2, turn: 1))
    mailbox.add(entry(10, FrameHeader(type: .request, source: own, id: 1)))
    mailbox.add(entry(20, FrameHeader(type: .request, source: other, id: 1)))
    mailbox.add(entry(30, FrameHeader(type: .event, source: own, id: 2)), atFront: true)
    mailbox.addAnswer(entry(40, FrameHeader(type: .response, flags: .more, re: 7)))
    #expect(mailbox.count == 4 && mailbox.byteCount == 100)
    #expect(mailbox.reaches(frames: 4, bytes: 1_000) && mailbox.reaches(frames: 9, bytes: 100))
    #expect(!mailbox.reaches(frames: 5, bytes: 101))
    #expect(mailbox.takeRequests(of: own).map(\.header.id) == [1], "the event of the same peer stays")
    #expect(mailbox.takeWork()?.header.type == .event && mailbox.takeWork()?.header.source == other)
    #expect(mailbox.takeWork() == nil && mailbox.byteCount == 40)
    #expect(mailbox.takeAnswer()?.header.re == 7 && mailbox.byteCount == 0)
  }

  @Test("parts of an answer leave as its caller grants, and the end behind them needs no credit")
  func held() {
    var held = HeldAnswers()
    let start = Instant(nanoseconds: 1_000_000_000)
    let part = FrameHeader(type: .response, flags: .more, re: 7)
    held.look(at: start)
    #expect(held.untakenSince == nil, "nothing waits")
    for _ in 0..<2 { held.add(entry(10, part)) }
    held.add(entry(5, FrameHeader(type: .response, re: 7)))
    held.add(entry(1, FrameHeader(type: .response, flags: .more, re: 8)))
    held.look(at: start)
    let later = start.advanced(milliseconds: 11)
    #expect(held.isUntaken(forMilliseconds: 10, at: later) && !held.isUntaken(forMilliseconds: 11, at: later))

    var grants = GrantedCredit(Window(frames: 1, bytes: 100))
    var answer = held.take(7)!
    #expect(held.next(of: &answer, &grants) != nil && held.next(of: &answer, &grants) == nil)
    #expect(held.count == 3 && held.byteCount == 16 && held.untakenSince == nil, "one was taken")
    held.putBack(answer, 7, grants: grants)
    grants.raise(to: Credit(frames: 2, bytes: 100))
    answer = held.take(7)!
    #expect(held.next(of: &answer, &grants)?.header.flags == .more)
    #expect(held.next(of: &answer, &grants)?.header.flags == [] && answer.entries.isEmpty)
    #expect(held.removeAll().map(\.header.re) == [8] && held.count == 0 && held.byteCount == 0)
  }

  // MARK: Deliveries in flight

  @Test("what is in flight is found while it is there, accepted or not, and a suspect is cleared by its answer")
  func inFlight() {
    var deliveries = DeliverySlab()
    var inFlight = InFlight()
    let source = Endpoint(seat: 2, turn: 1)
    let all = (1...3).map { id in
      deliveries.insert(
        Delivery(
          state: .delivered, header: FrameHeader(type: .request, source: source, id: id), callerSeat: SeatIndex(2),
          receiverSeat: peer, receivedAt: Instant(nanoseconds: 1)))
    }
    inFlight.makeSuspect(all[1], in: &deliveries)
    for index in all { inFlight.add(index, in: &deliveries) }
    #expect(inFlight.count == 3 && inFlight.unacceptedCount == 3 && inFlight.suspect == all[1])
    inFlight.accept(all[1], in: &deliveries)
    inFlight.abandon(all[0], in: &deliveries)
    #expect(inFlight.unacceptedCount == 2 && inFlight.suspectCount == 0 && !inFlight.suspect.isSome)
    for (id, index) in zip(UInt64(1)..., all) {
      #expect(inFlight.find(source: source, id: id, in: deliveries) == index)
    }
    #expect(inFlight.find(source: Endpoint(seat: 3, turn: 1), id: 1, in: deliveries) == nil)
    #expect(inFlight.all(in: deliveries) == all, "in the order in which they came")
    #expect(inFlight.oldestAbandoned(above: 1, in: deliveries) == nil)
    #expect(inFlight.oldestAbandoned(above: 0, in: deliveries) == all[0])
    for index in all { inFlight.remove(index, in: &deliveries) }
    #expect(inFlight.count == 0 && inFlight.unacceptedCount == 0 && inFlight.abandonedCount == 0)
    #expect(inFlight.all(in: deliveries).isEmpty)
  }

  // MARK: Topics and seats

  @Test("a seat subscribes once, and leaves all topics together")
  func subscribers() {
    var subscribers = TopicSubscribers()
    for topic: UInt16 in [1, 2, 1] { subscribers.add(peer, to: topic) }
    subscribers.add(SeatIndex(2), to: 1)
    #expect(subscribers[1] == [peer, SeatIndex(2)] && subscribers[2] == [peer] && subscribers[3].isEmpty)
    subscribers.removeAll(of: peer)
    subscribers.remove(SeatIndex(2), from: 1)
    #expect(subscribers.isEmpty)
  }

  @Test("a publisher's group ends with the last copy, not before all copies are on their way")
  func groups() {
    var groups = AckGroups()
    let number = groups.open(publisher: Endpoint(seat: 1, turn: 1), id: 9)
    groups.addCopy(to: number)
    #expect(groups.acknowledge(number) == nil, "the first copy is refused while the second is not made")
    groups.addCopy(to: number)
    #expect(groups.acknowledge(number) == nil && groups.acknowledge(number)?.id == 9 && groups.all.isEmpty)
  }

  @Test("a worker's seat is reached by endpoints of its earlier connections, a client's is not")
  func tenants() {
    var seats = SeatTable()
    let worker = seats.take(name: "store", role: .eventStore)!
    seats.makeMember(worker)
    let client = seats.take(name: "app", role: .client)!
    for seat in [worker, client] { seats[seat].begin(window: window, lengthMaximum: 100) }
    let before = [worker, client].map { seats[$0].endpoint }
    #expect(before.map { seats.holder(of: $0) } == [worker, client])
    for seat in [worker, client] { seats[seat].begin(window: window, lengthMaximum: 100) }
    #expect(before.allSatisfy { seats.holder(of: $0) == nil })
    seats[client].state = .ready
    #expect(seats.tenant(at: before[0]) == worker && seats.tenant(at: before[1]) == nil)
    #expect(seats.members(of: Role.eventStore.number) == [worker] && !seats.isVacant)
    for seat in [worker, client] { seats.vacate(seat) }
    #expect(seats.isVacant && seats.tenant(at: before[0]) == nil)
  }
}
