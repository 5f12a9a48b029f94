import Clocks
import Contracts
import Frames
import Testing

@testable import MessageHub

// A hub on the bench: peers that are only bookkeeping, and time that moves when told.
//
// The bench performs the hub's actions as a shell would, and holds the hub to the rules while it does: no frame to an
// empty seat, none beyond the receiver's credit, no answer to a request that was answered. A peer grants credit for
// what it takes from its inbox, unless told to be late with it.

/// A frame as a peer or a test sees it.
struct Mail {
  var header: FrameHeader
  var payload: [UInt8] = []

  var type: FrameType { header.type }
  var text: String { String(decoding: payload, as: UTF8.self) }
  /// The refusal in an ERROR or NACK.
  var refusal: Refusal? { try? JSONPayload.decode(Refusal.self, from: payload) }
  /// How many events a GAP says were dropped.
  var dropped: UInt64? { try? JSONPayload.decode(Gap.self, from: payload).dropped }
}

/// A request as its worker names it in its books.
struct BenchAnswer: Hashable {
  var caller: Endpoint
  var id: UInt64
  var attempt: UInt16

  /// The request in a frame that came to the worker: a REQUEST, or with `re` a CREDIT for its answer.
  init(_ header: FrameHeader) {
    caller = header.source
    id = header.type == .request ? header.id : header.re
    attempt = header.attempt
  }
}

/// What a peer knows of itself.
struct BenchPeer {
  var inbox: [Mail] = []
  var lastId: UInt64 = 0
  /// What the hub has let it send, and what it has sent.
  var allowed: Credit
  var sent = Credit(frames: 0, bytes: 0)
  /// What it lets the hub send, what the hub has sent, and what it has taken from the inbox.
  let window: Window
  var granted: Credit
  var received = Credit(frames: 0, bytes: 0)
  var taken = Credit(frames: 0, bytes: 0)
  var grantsCredit = true
  /// Requests without a terminal answer.
  var open: Set<UInt64> = []
  /// Whether it said in HELLO that it understands CREDIT for single answers; what it was granted, and what it has sent.
  var knowsAnswerCredit = false
  var answerGrants: [BenchAnswer: Credit] = [:]
  var answersSent: [BenchAnswer: Credit] = [:]
  /// CREDIT frames that it got for answers.
  var answerCreditCount = 0
  /// Whether it said in HELLO that it grants each of its answers; parts that it was sent, and has taken, by request.
  var grantsAnswers = false
  var partsSent: [UInt64: Credit] = [:]
  var partsTaken: [UInt64: Credit] = [:]
  var partsGranted: [UInt64: Credit] = [:]

  var maySend: Bool { sent.frames < allowed.frames && sent.bytes < allowed.bytes }
}

final class HubBench {
  var hub: MessageHub
  var now = Instant(nanoseconds: 1_000_000_000)
  var peers: [SeatIndex: BenchPeer] = [:]
  var cuts: [SeatIndex: FrameViolation] = [:]
  var calls: [HubCall] = []
  var cancelledCalls: [HubCall] = []
  var roomNotices: [SeatIndex] = []
  var injectedAnswers: [(id: UInt64, mail: Mail)] = []
  var deadLetters: [DeadLetter] = []
  var killingRetries: [(id: UInt64, deliveries: UInt16)] = []
  var controls: [Mail] = []
  /// Every action as text, in order, for a test that asks for it.
  var journal: [String]?
  let limits: HubLimits

  init(limits: HubLimits = HubLimits(), table: AccessTable = AccessTable()) {
    self.limits = limits
    hub = MessageHub(limits: limits, table: table, traceSeed: 7)
  }

  // MARK: Coming and going

  func client(
    _ name: String = "app", window: Window = .standard, grantsAnswers: Bool = false, isOfOtherUser: Bool = false
  ) -> SeatIndex {
    let seat = hub.joinClient(
      name: name, role: .client, window: window, grantsAnswers: grantsAnswers, isOfOtherUser: isOfOtherUser)!
    peers[seat] = newPeer(window)
    peers[seat]!.grantsAnswers = grantsAnswers
    return seat
  }

  /// A worker that is READY.
  func worker(
    _ name: String = "relays", role: Role = .relayConnector, window: Window = .standard, knowsAnswerCredit: Bool = false
  ) -> SeatIndex {
    let seat = hub.reserveSeat(name: name, role: role)!
    hub.openMailbox(seat)
    join(seat, window: window, knowsAnswerCredit: knowsAnswerCredit)
    return seat
  }

  /// The next instance of a worker.
  func join(
    _ seat: SeatIndex, window: Window = .standard, isReady: Bool = true, knowsAnswerCredit: Bool = false,
    knowsCallerRole: Bool = false
  ) {
    let servers = [hub.seats[seat].role, Role.worker.number]
    let serves = hub.table.all.filter { $0.kind == .method && servers.contains($0.server.number) }
    hub.joinWorker(
      seat, serves: serves.map(\.number), window: window, knowsAnswerCredit: knowsAnswerCredit,
      knowsCallerRole: knowsCallerRole)
    peers[seat] = newPeer(window)
    peers[seat]!.knowsAnswerCredit = knowsAnswerCredit
    if isReady { send(FrameHeader(type: .ready), from: seat) }
  }

  private func newPeer(_ window: Window) -> BenchPeer {
    BenchPeer(
      allowed: Credit(frames: limits.window.frames, bytes: limits.window.bytes), window: window,
      granted: Credit(frames: window.frames, bytes: window.bytes))
  }

  @discardableResult
  func leave(_ seat: SeatIndex) -> MessageHub.DepartureReport {
    peers[seat] = nil
    var actions: [HubAction] = []
    let report = hub.left(seat, now: now, actions: &actions)
    perform(actions, input: [])
    return report
  }

  func closeMailbox(_ seat: SeatIndex, reason: String = "is stopped") {
    input { $0.closeMailbox(seat, reason: reason, retryAfterMilliseconds: 900, now: $1, actions: &$2) }
  }

  func pass(milliseconds: UInt64) {
    let end = now.advanced(milliseconds: milliseconds)
    while let due = hub.nextDeadline, due <= end {
      now = max(now, due)
      input { $0.timerFired(now: $1, actions: &$2) }
    }
    now = end
  }

  // MARK: What peers send

  /// Any frame, as it is.
  func send(_ header: FrameHeader, _ payload: [UInt8] = [], from seat: SeatIndex) {
    var header = header
    header.payloadByteCount = payload.count
    if header.type.spendsCredit(flags: header.flags) {
      peers[seat]?.sent.frames += 1
      peers[seat]?.sent.bytes += UInt64(payload.count)
    }
    if header.type == .request { peers[seat]?.open.insert(header.id) }
    input(payload) { hub, now, actions in
      payload.withUnsafeBytes { hub.received(header, payload: $0, from: seat, now: now, actions: &actions) }
    }
  }

  func nextId(of seat: SeatIndex) -> UInt64 {
    peers[seat]!.lastId += 1
    return peers[seat]!.lastId
  }

  @discardableResult
  func request(
    _ text: String = "", from seat: SeatIndex, method: UInt16 = .publish, to destination: Endpoint = .hub,
    ttl: UInt32 = 0,
    flags: FrameFlags = []
  ) -> UInt64 {
    let id = nextId(of: seat)
    let header = FrameHeader(
      type: .request, flags: flags, destination: destination, id: id, ttlMilliseconds: ttl, method: method)
    send(header, Array(text.utf8), from: seat)
    return id
  }

  @discardableResult
  func event(
    _ text: String = "", from seat: SeatIndex, method: UInt16 = .publish, to destination: Endpoint = .hub,
    ttl: UInt32 = 0,
    flags: FrameFlags = []
  ) -> UInt64 {
    let id = nextId(of: seat)
    let header = FrameHeader(
      type: .event, flags: flags, destination: destination, id: id, ttlMilliseconds: ttl, method: method)
    send(header, Array(text.utf8), from: seat)
    return id
  }

  func subscribe(_ seat: SeatIndex, to topic: UInt16 = .states) {
    send(FrameHeader(type: .subscribe, id: nextId(of: seat), method: topic), from: seat)
    #expect(take(seat)?.type == .response)
  }

  /// An answer of any type to `mail`, from the peer that took it.
  func answer(
    _ mail: Mail, _ type: FrameType = .response, _ text: String = "", flags: FrameFlags = [], from seat: SeatIndex
  ) {
    let header = FrameHeader(
      type: type, flags: flags, destination: mail.header.source, re: mail.header.id, attempt: mail.header.attempt,
      method: mail.header.method)
    if type == .response, flags.contains(.more) {
      peers[seat]?.answersSent[BenchAnswer(mail.header), default: Credit(frames: 0, bytes: 0)].frames += 1
      peers[seat]?.answersSent[BenchAnswer(mail.header)]?.bytes += UInt64(text.utf8.count)
    }
    send(header, Array(text.utf8), from: seat)
  }

  /// Whether the worker may send one more part of this answer.
  func maySendPart(of mail: Mail, from seat: SeatIndex) -> Bool {
    let peer = peers[seat]!
    guard peer.maySend else { return false }
    guard peer.knowsAnswerCredit else { return true }
    let window = limits.answerWindow
    let granted = peer.answerGrants[BenchAnswer(mail.header)] ?? Credit(frames: window.frames, bytes: window.bytes)
    let sent = peer.answersSent[BenchAnswer(mail.header)] ?? Credit(frames: 0, bytes: 0)
    return sent.frames < granted.frames && sent.bytes < granted.bytes
  }

  /// Sends as many parts as the worker may, at most so many; returns their number.
  @discardableResult
  func stream(_ mail: Mail, _ text: String = "part", atMost maximum: Int = 100_000, from seat: SeatIndex) -> Int {
    var count = 0
    while count < maximum, maySendPart(of: mail, from: seat) {
      answer(mail, .response, text, flags: .more, from: seat)
      count += 1
    }
    return count
  }

  func nack(_ mail: Mail, afterMilliseconds: UInt32, from seat: SeatIndex) {
    let header = FrameHeader(
      type: .nack, destination: mail.header.source, re: mail.header.id, ttlMilliseconds: afterMilliseconds,
      attempt: mail.header.attempt)
    send(header, from: seat)
  }

  func cancel(_ id: UInt64, from seat: SeatIndex) { send(FrameHeader(type: .cancel, re: id), from: seat) }

  // MARK: What peers get

  /// The oldest frame of the inbox, with credit for another one.
  @discardableResult
  func take(_ seat: SeatIndex) -> Mail? {
    guard peers[seat]?.inbox.isEmpty == false, let mail = peers[seat]?.inbox.removeFirst() else { return nil }
    if isGranted(mail, seat) {
      peers[seat]!.partsTaken[mail.header.re, default: Credit(frames: 0, bytes: 0)].add(mail.payload.count)
      if peers[seat]!.grantsCredit { grant(seat, answer: mail.header.re) }
    } else if mail.type.spendsCredit(flags: mail.header.flags) {
      peers[seat]!.taken.frames += 1
      peers[seat]!.taken.bytes += UInt64(mail.payload.count)
      if peers[seat]!.grantsCredit { grant(seat) }
    }
    return mail
  }

  /// All that waits in the inbox, and what comes while it is taken.
  func takeAll(_ seat: SeatIndex) -> [Mail] {
    var all: [Mail] = []
    while let mail = take(seat) { all.append(mail) }
    return all
  }

  /// Credit for what was taken so far.
  func grant(_ seat: SeatIndex) {
    guard var peer = peers[seat] else { return }
    peer.granted = Credit(
      frames: peer.window.frames + peer.taken.frames, bytes: peer.window.bytes + peer.taken.bytes)
    peers[seat] = peer
    send(FrameHeader(type: .credit), peer.granted.payload, from: seat)
    for id in peer.partsTaken.keys.sorted() { grant(seat, answer: id) }
  }

  // MARK: Looking (#expect cannot call a noncopyable value's methods)

  func endpoint(of seat: SeatIndex) -> Endpoint { hub.endpoint(of: seat) }
  func report(_ seat: SeatIndex) -> MessageHub.SeatReport { hub.report(seat) }
  func busySince(_ seat: SeatIndex) -> Instant? { hub.busySince(seat) }
  func registry(_ table: AccessTable) -> Registry { hub.registry(table) }
  func isIdle(_ seat: SeatIndex) -> Bool { hub.isIdle(seat) }
  func isFull(_ seat: SeatIndex) -> Bool { hub.isFull(seat) }
  func mostUntaken() -> SeatIndex? { hub.mostUntaken(forMilliseconds: 300_000, now: now) }
  func isFullOfAnswers(_ seat: SeatIndex) -> Bool { hub.isFullOfAnswers(seat) }
  /// Answers to SUBSCRIBE are not counted among those to requests.
  private func isTopic(_ method: UInt16) -> Bool { hub.table[method]?.kind == .topic }

  // MARK: The shell

  func input(_ payload: [UInt8] = [], _ body: (inout MessageHub, Instant, inout [HubAction]) -> Void) {
    var actions: [HubAction] = []
    body(&hub, now, &actions)
    hub.turnEnded(actions: &actions)
    perform(actions, input: payload)
  }

  private func perform(_ actions: [HubAction], input: [UInt8]) {
    for action in actions {
      journal?.append("\(action)")
      switch action {
      case .send(let seat, let header, let payload):
        let bytes: [UInt8]
        switch payload {
        case .none: bytes = []
        case .input: bytes = input
        case .stored(let kept): bytes = kept
        }
        deliver(Mail(header: header, payload: bytes), to: seat)
      case .cut(let seat, let violation): cuts[seat] = violation
      case .serve(let call): calls.append(call)
      case .serviceCancelled(let call): cancelledCalls.append(call)
      case .injectedAnswer(let id, let header, let payload):
        let bytes = if case .stored(let kept) = payload { kept } else { input }
        injectedAnswers.append((id, Mail(header: header, payload: bytes)))
      case .serviceMayContinue(let seat, _): roomNotices.append(seat)
      case .keepDeadLetter(let letter): deadLetters.append(letter)
      case .retryKilled(let id, _, let deliveries): killingRetries.append((id, deliveries))
      case .control(_, let header): controls.append(Mail(header: header))
      }
    }
  }

  private func deliver(_ mail: Mail, to seat: SeatIndex) {
    guard var peer = peers[seat] else {
      Issue.record("\(mail.type) to seat \(seat), where nobody is")
      return
    }
    #expect(mail.header.payloadByteCount == mail.payload.count, "\(mail.type) has the length its header says")
    if isGranted(mail, seat) {
      let window = Credit(frames: limits.answerWindow.frames, bytes: limits.answerWindow.bytes)
      let granted = peer.partsGranted[mail.header.re] ?? window
      let sent = peer.partsSent[mail.header.re] ?? Credit(frames: 0, bytes: 0)
      if sent.frames >= granted.frames || sent.bytes >= granted.bytes {
        Issue.record("a part of answer \(mail.header.re) to seat \(seat) beyond what was granted of it")
      }
      peer.partsSent[mail.header.re, default: Credit(frames: 0, bytes: 0)].add(mail.payload.count)
    } else if mail.type.spendsCredit(flags: mail.header.flags) {
      if peer.received.frames >= peer.granted.frames || peer.received.bytes >= peer.granted.bytes {
        Issue.record("\(mail.type) to seat \(seat) beyond its credit")
      }
      peer.received.frames += 1
      peer.received.bytes += UInt64(mail.payload.count)
    }
    if mail.type == .credit {
      let credit = mail.payload.withUnsafeBytes { Credit($0)! }
      if mail.header.re == 0 { peer.allowed = credit } else { take(credit, mail.header, of: &peer) }
    } else {
      peer.inbox.append(mail)
    }
    if mail.type.isTerminal(flags: mail.header.flags), !isTopic(mail.header.method) {
      if peer.open.remove(mail.header.re) == nil { Issue.record("request \(mail.header.re) is answered twice") }
    }
    peers[seat] = peer
  }
}

extension Credit {
  /// One more frame with so many bytes.
  fileprivate mutating func add(_ byteCount: Int) {
    frames += 1
    bytes += UInt64(byteCount)
  }
}

extension HubBench {
  /// Whether a frame is a part that its receiver grants by answer.
  private func isGranted(_ mail: Mail, _ seat: SeatIndex) -> Bool {
    peers[seat]!.grantsAnswers && mail.type == .response && mail.header.flags.contains(.more)
  }

  /// Credit for what was taken so far of one answer.
  func grant(_ seat: SeatIndex, answer id: UInt64) {
    let taken = peers[seat]!.partsTaken[id] ?? Credit(frames: 0, bytes: 0)
    let window = limits.answerWindow
    let total = Credit(frames: taken.frames + window.frames, bytes: taken.bytes + window.bytes)
    peers[seat]!.partsGranted[id] = total
    send(FrameHeader(type: .credit, re: id), total.payload, from: seat)
  }

  /// CREDIT for an answer: only for a peer that understands it, of a request in flight, and always more than before.
  private func take(_ credit: Credit, _ header: FrameHeader, of peer: inout BenchPeer) {
    let answer = BenchAnswer(header)
    #expect(peer.knowsAnswerCredit)
    let before = peer.answerGrants[answer] ?? Credit(frames: 0, bytes: 0)
    #expect(credit.frames > before.frames && credit.bytes >= before.bytes)
    let sent = peer.answersSent[answer] ?? Credit(frames: 0, bytes: 0)
    #expect(credit.frames <= sent.frames + limits.answerWindow.frames, "no more than a window beyond what was sent")
    peer.answerGrants[answer] = credit
    peer.answerCreditCount += 1
  }
}

extension UInt16 {
  /// `relay.publish`
  static let publish: UInt16 = 257
  /// `relay.request`
  static let query: UInt16 = 256
  /// The topic `relay.states`
  static let states: UInt16 = 288
  /// `supervisor.status`
  static let status: UInt16 = 1
}
