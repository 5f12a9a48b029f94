// A hub under the fuzzer, and what everybody who sits on it knows.
//
// The model performs the hub's actions as the shell of roostd would, and holds the hub to the protocol while it does.
// It knows no more than what each party has seen: what it may send, what it granted, which of its questions are open,
// how many parts of an answer it has. Whatever the hub does beyond that is a finding.
//
// Payloads carry what is checked: an event and a request bring a number and filling that follows from it; a part of an
// answer brings the number it answers and its own position, the end how many parts there were. So a payload that was
// mixed up, lost or sent twice shows.
import Clocks
import Contracts
import Frames

@testable import MessageHub

/// A finding.
func require(_ isTrue: Bool, _ what: @autoclosure () -> String) {
  if !isTrue { fatalError("the hub: \(what())") }
}

/// The input, read as a sequence of choices; when it is used up all choices are 0.
struct Choices {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isUsedUp: Bool { position >= bytes.count }

  mutating func byte() -> Int {
    guard position < bytes.count else { return 0 }
    defer { position += 1 }
    return Int(bytes[position])
  }

  /// One of `count` possibilities.
  mutating func below(_ count: Int) -> Int { count < 2 ? 0 : byte() % count }

  mutating func wide() -> UInt64 { (0..<8).reduce(0) { wide, _ in wide << 8 | UInt64(byte()) } }
}

/// A frame as its receiver holds it.
struct Held {
  var header: FrameHeader
  var payload: [UInt8]
  /// Parts of the answer that went out.
  var parts = 0
  /// What the hub has said may be sent of the answer, beyond the first window.
  var granted = Credit(frames: 0, bytes: 0)
}

/// What a connection knows.
struct Party {
  /// A question without its end.
  struct Question {
    var number: Int
    var parts = 0
  }

  var isCut = false
  var isReady = false
  var knowsAnswerCredit = false
  var lastId: UInt64 = 0
  var allowed: Credit
  var sent = Credit(frames: 0, bytes: 0)
  let window: Window
  var granted: Credit
  var received = Credit(frames: 0, bytes: 0)
  var taken = Credit(frames: 0, bytes: 0)
  var inbox: [Held] = []
  var hand: [Held] = []
  var past: [Held] = []
  var open: [UInt64: Question] = [:]
  /// SUBSCRIBE and UNSUBSCRIBE without an answer, and events without their ACK.
  var subscribing: Set<UInt64> = []
  var unacknowledged: Set<UInt64> = []
  /// The last event number from each sender.
  var lastEvent: [Endpoint: Int] = [:]

  var maySend: Bool { sent.frames < allowed.frames && sent.bytes < allowed.bytes }
}

/// The hub and its parties.
final class HubModel {
  var hub: MessageHub
  var now = Instant(nanoseconds: 1_000_000_000)
  var parties: [SeatIndex: Party] = [:]
  var calls: [HubCall] = []
  var injected: Set<UInt64> = []
  var lastNumber = 0
  /// What was asked for under each number, so that an answer can be checked against it.
  private var seenOnce: Set<Int> = []
  private(set) var wasCut: FrameViolation?

  init(limits: HubLimits, table: AccessTable) { hub = MessageHub(limits: limits, table: table, traceSeed: 7) }

  var cut: Set<SeatIndex> { Set(parties.filter { $0.value.isCut }.keys) }

  // MARK: Inputs

  /// An input to the hub. `frame` is its payload, if it is a frame: only then may actions say `.input`.
  func input(_ frame: [UInt8]? = nil, _ body: (inout MessageHub, Instant, inout [HubAction]) -> Void) {
    var actions: [HubAction] = []
    body(&hub, now, &actions)
    perform(actions, frame: frame)
  }

  func turnEnded() { input { hub, _, actions in hub.turnEnded(actions: &actions) } }

  /// Sends a frame from a party that keeps the rules.
  func send(_ header: FrameHeader, _ payload: [UInt8] = [], from seat: SeatIndex) {
    sendAnything(header, payload, from: seat)
    require(wasCut == nil, "\(header) keeps the rules, and was cut: \(String(describing: wasCut))")
  }

  /// Sends any frame at all. A party is cut for want of credit exactly if it has none.
  func sendAnything(_ header: FrameHeader, _ payload: [UInt8], from seat: SeatIndex) {
    var header = header
    header.payloadByteCount = payload.count
    wasCut = nil
    guard var party = parties[seat], !party.isCut else { return }
    let spends = header.type.spendsCredit(flags: header.flags) && header.source == .hub
    let lacksCredit = spends && !party.maySend
    if spends && !lacksCredit {
      party.sent.frames += 1
      party.sent.bytes += UInt64(payload.count)
    }
    let isNew = header.id > party.lastId
    if isNew && spends && !lacksCredit { expectAnswer(to: header, payload, &party) }
    parties[seat] = party
    input(payload) { hub, now, actions in
      payload.withUnsafeBytes { hub.received(header, payload: $0, from: seat, now: now, actions: &actions) }
    }
    require((wasCut?.code == .noCredit) == lacksCredit, "\(header) from seat \(seat): \(String(describing: wasCut))")
  }

  private func expectAnswer(to header: FrameHeader, _ payload: [UInt8], _ party: inout Party) {
    switch header.type {
    case .request: party.open[header.id] = Party.Question(number: Self.number(in: payload))
    case .subscribe, .unsubscribe: party.subscribing.insert(header.id)
    case .event:
      if header.flags.contains(.needsAck) { party.unacknowledged.insert(header.id) }
    default: return
    }
    party.lastId = header.id
  }

  func pass(milliseconds: UInt64) {
    let end = now.advanced(milliseconds: milliseconds)
    var count = 0
    while let due = hub.nextDeadline, due <= end {
      now = max(now, due)
      input { hub, now, actions in hub.timerFired(now: now, actions: &actions) }
      count += 1
      require(count < 100_000, "the timer fires for ever")
    }
    now = end
  }

  func leave(_ seat: SeatIndex) {
    parties[seat] = nil
    input { hub, now, actions in hub.left(seat, now: now, actions: &actions) }
  }

  // MARK: Payloads

  /// A new number and so many bytes that follow from it.
  func numbered(filling count: Int) -> [UInt8] {
    lastNumber += 1
    return Self.bytes(lastNumber) + [UInt8](repeating: UInt8(truncatingIfNeeded: lastNumber), count: count)
  }

  static func bytes(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).littleEndian) { Array($0) } }

  static func number(in payload: [UInt8]) -> Int {
    payload.count < 4 ? 0 : (0..<4).reduce(0) { $0 | Int(payload[$1]) << (8 * $1) }
  }

  static func answer(to mail: Held) -> [UInt8] { bytes(number(in: mail.payload)) + bytes(mail.parts) }
  static let partByteCount: UInt64 = 8

  /// What a worker sends that must reach nobody.
  static let forgery = [UInt8](repeating: 0xEE, count: 8)

  // MARK: Actions

  private func perform(_ actions: [HubAction], frame: [UInt8]?) {
    for action in actions {
      switch action {
      case .send(let seat, let header, let payload): deliver(header, resolve(payload, frame), to: seat)
      case .cut(let seat, let violation):
        parties[seat]?.isCut = true
        wasCut = violation
      case .serve(let call):
        require(!calls.contains(call), "a call is served once")
        calls.append(call)
      case .serviceCancelled(let call): calls.removeAll { $0 == call }
      case .injectedAnswer(let id, let header, let payload):
        require(injected.remove(id) != nil, "an injected request is answered once")
        require(resolve(payload, frame).count == header.payloadByteCount, "the length of an injected answer")
      case .keepDeadLetter(let letter):
        require(letter.header.payloadByteCount == letter.payload.count, "a dead letter is whole")
      case .retryKilled(let id, _, let deliveries):
        require(injected.contains(id) && deliveries == 4, "a letter that was tried again kills once more")
      case .serviceMayContinue, .control: break
      }
    }
  }

  private func resolve(_ payload: HubPayload, _ frame: [UInt8]?) -> [UInt8] {
    switch payload {
    case .none: return []
    case .stored(let bytes): return bytes
    case .input:
      require(frame != nil, "bytes of a frame are passed on, and there is none")
      return frame ?? []
    }
  }

  private func deliver(_ header: FrameHeader, _ payload: [UInt8], to seat: SeatIndex) {
    guard var party = parties[seat] else { return require(false, "\(header) to seat \(seat), where nobody is") }
    if party.isCut { return }
    require(header.payloadByteCount == payload.count, "the length of \(header)")
    if header.type.spendsCredit(flags: header.flags) {
      require(
        party.received.frames < party.granted.frames && party.received.bytes < party.granted.bytes,
        "\(header) to seat \(seat) beyond its credit")
      party.received.frames += 1
      party.received.bytes += UInt64(payload.count)
    }
    switch header.type {
    case .credit:
      let credit = payload.withUnsafeBytes { Credit($0) } ?? Credit(frames: 0, bytes: 0)
      if header.re != 0 {
        grant(credit, header, &party)
        break
      }
      require(
        credit.frames >= party.allowed.frames && credit.bytes >= party.allowed.bytes, "credit is never taken back")
      party.allowed = credit
    case .ack, .nack: settle(header, &party)
    case .response, .error, .progress: check(header, payload, &party)
    default: party.inbox.append(Held(header: header, payload: payload))
    }
    parties[seat] = party
  }

  /// CREDIT for one answer: only to those who know it, of a request they have, and never for parts that did not come.
  private func grant(_ credit: Credit, _ header: FrameHeader, _ party: inout Party) {
    require(party.knowsAnswerCredit, "\(header) is CREDIT that its receiver knows nothing of")
    let isMeant = { (mail: Held) in
      mail.header.type == .request && mail.header.id == header.re && mail.header.source == header.source
        && mail.header.attempt == header.attempt
    }
    guard let index = party.hand.firstIndex(where: isMeant) else {
      return require(false, "\(header) is CREDIT for an answer that is not being given")
    }
    let (before, window) = (party.hand[index].granted, hub.limits.answerWindow)
    require(credit.frames > before.frames && credit.bytes >= before.bytes, "\(header): \(credit) after \(before)")
    let parts = UInt64(party.hand[index].parts)
    require(
      credit.frames <= parts + window.frames && credit.bytes <= parts * Self.partByteCount + window.bytes,
      "\(header): \(credit) after \(parts) parts with \(window)")
    party.hand[index].granted = credit
  }

  private func settle(_ header: FrameHeader, _ party: inout Party) {
    if header.type == .ack && party.open[header.re] != nil { return }
    require(party.unacknowledged.remove(header.re) != nil, "\(header) acknowledges what nobody awaits")
  }

  /// A part, the progress or the end of an answer, as its caller sees it.
  private func check(_ header: FrameHeader, _ payload: [UInt8], _ party: inout Party) {
    if header.type.spendsCredit(flags: header.flags) {
      party.taken.frames += 1
      party.taken.bytes += UInt64(payload.count)
    }
    if party.subscribing.remove(header.re) != nil { return }
    guard var question = party.open[header.re] else { return require(false, "\(header) answers nothing") }
    require(payload != Self.forgery, "\(header) is forged")
    let isFromHub = header.type == .error || header.method < 256
    if header.type == .response && !isFromHub {
      require(payload == Self.bytes(question.number) + Self.bytes(question.parts), "\(header): part \(question.parts)")
      question.parts += 1
    }
    party.open[header.re] = header.type.isTerminal(flags: header.flags) ? nil : question
  }

  /// What must hold of a request or an event that a party takes from its inbox.
  func see(_ mail: Held, at seat: SeatIndex) {
    guard mail.header.type == .event || mail.header.type == .request, mail.header.source != .hub else { return }
    let number = Self.number(in: mail.payload)
    require(mail.header.destination == hub.endpoint(of: seat), "\(mail.header) is addressed to seat \(seat)")
    require(mail.payload.dropFirst(4).allSatisfy { $0 == UInt8(truncatingIfNeeded: number) }, "the bytes of \(number)")
    if mail.header.flags.contains(.atMostOnce) && mail.header.type == .request {
      require(seenOnce.insert(number).inserted, "AT_MOST_ONCE \(number) came twice")
    }
    guard mail.header.attempt < 2, mail.header.type == .event else { return }
    require(parties[seat]?.lastEvent[mail.header.source] ?? 0 < number, "event \(number) came too late")
    parties[seat]?.lastEvent[mail.header.source] = number
  }
}
