// Fuzz entry for the message hub: not its bytes, which the frame reader has checked, but its states. `Scripts/fuzz.sh`
// builds and runs it.
//
// modules: Clocks Frames Contracts InternalCollectionsUtilities ContainersPreview DequeModule HeapModule MessageHub
// with: Tests/Fuzz/HubModel.swift Tests/MessageHubTests/HubAccounts.swift
// libraries: FoundationEssentials
// corpus: hub
// longest: 1024
//
// The input is a sequence of choices: bounds, then steps. A step is a party (workers, clients; each comes, leaves, dies
// and comes again) and what it does: ask, answer in all forms and wrongly, be late with credit, send any frame with any
// fields, wait; or what the supervisor does: serve, refuse, drain, close a mailbox, release a seat, reload. HubModel
// holds the hub to the protocol, HubAccounts adds its books up every few steps. At the end everybody comes back and
// answers until nothing moves: then no question may be open and no account stand above zero. Then all leave for good, and
// nothing may be left of them.
import Clocks
import Contracts
import Frames

@testable import MessageHub

/// libFuzzer calls this for each input; a failed requirement is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHub(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var play = Play(Choices(Array(UnsafeBufferPointer(start: start, count: count))))
  play.run()
  return 0
}

private let exampleRole = AccessTable.CustomRole(
  name: "example", serves: ["example.*"], mayCall: ["relay.*", "supervisor.*"], callableBy: ["client"])
private let accessTable = AccessTable(customRoles: [exampleRole])

/// One input, played.
private struct Play {
  /// Somebody who may be on the bus: a worker with its seat, or a client with whatever seat it gets.
  struct Place {
    /// nil for a client.
    var workerRole: Role?
    var seat: Int?
  }

  private var choices: Choices
  private let model: HubModel
  private var places: [Place]

  init(_ choices: Choices) {
    self.choices = choices
    model = HubModel(limits: Self.limits(&self.choices), table: accessTable)
    let example = accessTable.role(named: "example")
    let roles: [Role?] = [.relayConnector, .relayConnector, .outboxPlanner, .outboxPlanner, example, nil, nil, nil]
    places = roles.map { Place(workerRole: $0) }
  }

  mutating func run() {
    for place in places.indices where place % 2 == 0 { for _ in 0..<4 { come(place) } }
    var count = 0
    while !choices.isUsedUp {
      step()
      count += 1
      // A wrong account stays wrong: looking at every step would only make the runs fewer.
      guard count % 8 == 0 else { continue }
      let wrong = model.hub.discrepancies(besides: model.cut)
      require(wrong.isEmpty, "\(wrong)")
    }
    settle()
    depart()
  }

  /// Bounds that small inputs reach.
  private static func limits(_ choices: inout Choices) -> HubLimits {
    var limits = HubLimits()
    limits.window = Window(frames: 1 + UInt64(choices.below(12)), bytes: 1 + UInt64(choices.byte()) * 4)
    // Made of the window, not chosen: the seeds mean what they meant.
    limits.answerWindow = Window(frames: 1 + limits.window.frames / 3, bytes: 1 + limits.window.bytes / 8)
    limits.mailboxFrames = 1 + choices.below(8)
    limits.mailboxBytes = 1 + choices.byte() * 2
    limits.clientMailboxFrames = 1 + choices.below(6)
    limits.clientMailboxBytes = 1 + choices.byte()
    limits.poolBytes = 1 + choices.byte() * 8
    limits.outstandingRequests = 1 + choices.below(10)
    limits.deliveriesMaximum = 1 + UInt16(choices.below(4))
    limits.cancelGraceMilliseconds = UInt64(choices.below(60))
    limits.defaultTTLMilliseconds = UInt32(choices.below(3) * 40)
    return limits
  }

  // MARK: Steps

  private mutating func step() {
    let choice = choices.byte()
    let place = choices.below(places.count)
    switch choice & 31 {
    case 0, 1: come(place)
    case 2: leave(place)
    case 3: go(place)
    case 4...8: if let seat = speaker(place) { ask(seat, isEvent: choice & 31 > 6) }
    case 9...12: take(place)
    case 13...19: if let seat = speaker(place) { work(seat, choice & 31) }
    case 20: if let seat = speaker(place) { grant(seat) }
    case 21: if let seat = speaker(place) { subscribe(seat) }
    case 22: if let seat = speaker(place) { anything(seat) }
    case 23: if let seat = speaker(place) { answerWrongly(seat) }
    case 24: if let seat = speaker(place) { cancel(seat) }
    case 25: model.pass(milliseconds: UInt64(choices.byte()))
    case 26, 27: serve()
    case 28: inject()
    case 29: publish()
    case 30: reload()
    default: if let seat = speaker(place), places[place].workerRole != nil { drain(seat) }
    }
    // Several frames may come in one turn of the loop; credit is told at its end.
    if choice & 32 == 0 { model.turnEnded() }
  }

  private func speaker(_ place: Int) -> Int? {
    guard let seat = places[place].seat, let party = model.parties[seat], !party.isCut else { return nil }
    return seat
  }

  private mutating func window() -> Window {
    Window(frames: UInt64(choices.below(6)), bytes: UInt64(choices.byte()))
  }

  // MARK: Coming and going

  /// The next stage of a place's life: a seat, a mailbox, a connection, READY.
  private mutating func come(_ place: Int) {
    guard let role = places[place].workerRole else {
      if places[place].seat.map({ model.parties[$0] == nil }) ?? true {
        let window = window()
        places[place].seat = model.hub.joinClient(name: "app", role: .client, window: window)
        if let seat = places[place].seat { model.parties[seat] = party(window, isReady: true) }
      }
      return
    }
    guard let seat = places[place].seat else {
      places[place].seat = model.hub.reserveSeat(name: "\(role) \(place)", role: role)
      return
    }
    if let party = model.parties[seat] {
      guard !party.isCut, !party.isReady else { return }
      model.parties[seat]?.isReady = true
      model.send(FrameHeader(type: .ready), from: seat)
    } else if model.hub.seats[seat].state == .closed {
      model.hub.openMailbox(seat)
    } else {
      join(seat, role)
    }
  }

  private mutating func join(_ seat: Int, _ role: Role) {
    let names =
      role.number < Role.firstCustomNumber
      ? accessTable.all.filter { $0.kind == .method && $0.server == role }.map(\.name)
      : ["example.echo", "example.\(choices.below(4))"]
    let window = window()
    do {
      let serves = try model.hub.register(methods: names, of: role).numbers
      let knowsAnswerCredit = seat % 2 == 1
      model.hub.joinWorker(seat, serves: serves, window: window, knowsAnswerCredit: knowsAnswerCredit)
      model.parties[seat] = party(window, isReady: false)
      model.parties[seat]?.knowsAnswerCredit = knowsAnswerCredit
    } catch {
      // The role may not serve these any more: roostd refuses it at the door.
    }
  }

  private func party(_ window: Window, isReady: Bool) -> Party {
    let own = model.hub.limits.window
    var party = Party(
      allowed: Credit(frames: own.frames, bytes: own.bytes), window: window,
      granted: Credit(frames: window.frames, bytes: window.bytes))
    party.isReady = isReady
    return party
  }

  private mutating func leave(_ place: Int) {
    guard let seat = places[place].seat, model.parties[seat] != nil else { return }
    model.leave(seat)
    if places[place].workerRole == nil { places[place].seat = nil }
  }

  /// A worker that is away is stopped; one that is stopped leaves the configuration.
  private mutating func go(_ place: Int) {
    guard places[place].workerRole != nil, let seat = places[place].seat, model.parties[seat] == nil else { return }
    if model.hub.seats[seat].state == .closed {
      model.hub.releaseSeat(seat)
      places[place].seat = nil
    } else {
      model.input { hub, now, actions in hub.closeMailbox(seat, reason: "stopped", now: now, actions: &actions) }
    }
  }

  private mutating func drain(_ seat: Int) {
    model.hub.beginDrain(seat)
    model.parties[seat]?.isReady = true
  }

  // MARK: Asking

  private mutating func ask(_ seat: Int, isEvent: Bool) {
    let flavour = choices.byte()
    let header = FrameHeader(
      type: isEvent ? .event : .request, flags: flags(flavour, isEvent), destination: destination(flavour >> 3),
      id: nextId(of: seat), ttlMilliseconds: flavour & 4 == 0 ? 0 : UInt32(choices.byte()), method: method(isEvent))
    guard model.parties[seat]?.maySend == true else { return }
    model.send(header, model.numbered(filling: choices.byte() % 64), from: seat)
  }

  private func flags(_ flavour: Int, _ isEvent: Bool) -> FrameFlags {
    var flags: FrameFlags = flavour & 1 == 0 ? [] : .atMostOnce
    if isEvent && flavour & 2 == 0 { flags.insert(.needsAck) }
    return flags
  }

  private mutating func destination(_ kind: Int) -> Endpoint {
    switch kind % 8 {
    case 0: Endpoint(role: UInt16(choices.below(70)))
    case 1: Endpoint(rawValue: UInt32(truncatingIfNeeded: choices.wide()))
    case 2, 3: places[choices.below(places.count)].seat.map { model.hub.endpoint(of: $0) } ?? .hub
    case 4: Endpoint(seat: 1 + choices.below(10), turn: UInt32(choices.below(5)))
    default: .hub
    }
  }

  private mutating func method(_ isEvent: Bool) -> UInt16 {
    let some = isEvent ? methodNumbers + topicNumbers + topicNumbers : methodNumbers
    return some[choices.below(some.count)]
  }

  private func nextId(of seat: Int) -> UInt64 { (model.parties[seat]?.lastId ?? 0) + 1 }

  private mutating func cancel(_ seat: Int) {
    // In order: the iteration of a dictionary differs from one run to the next.
    let open = model.parties[seat]?.open.keys.sorted() ?? []
    guard !open.isEmpty else { return }
    model.send(FrameHeader(type: .cancel, re: open[choices.below(open.count)]), from: seat)
  }

  private mutating func subscribe(_ seat: Int) {
    let flavour = choices.byte()
    guard model.parties[seat]?.maySend == true else { return }
    let topic = topicNumbers[flavour % topicNumbers.count]
    let type: FrameType = flavour & 128 == 0 ? .subscribe : .unsubscribe
    model.send(FrameHeader(type: type, id: nextId(of: seat), method: topic), from: seat)
  }

  /// Any type, any fields, whether allowed or not.
  private mutating func anything(_ seat: Int) {
    let type = FrameType.allCases[choices.below(FrameType.allCases.count)]
    let flags = FrameFlags(rawValue: UInt16(choices.byte())).intersection(.known)
    var header = FrameHeader(
      type: type, flags: flags, destination: destination(choices.byte()), id: UInt64(choices.byte()),
      re: UInt64(choices.byte()), ttlMilliseconds: UInt32(choices.byte()), attempt: UInt16(choices.below(4)),
      method: choices.byte() < 200 ? method(true) : UInt16(truncatingIfNeeded: choices.wide()))
    if choices.byte() > 240 { header.source = Endpoint(rawValue: UInt32(choices.byte())) }
    var payload = model.numbered(filling: choices.below(40))
    // A part, progress or an end with bytes of its own could not be told from a right one.
    if [.response, .error, .progress].contains(type) { header.attempt = 9_999 }
    if type == .credit {
      payload = (0..<choices.below(20)).map { _ in 0xFF }
      if let credit = payload.withUnsafeBytes({ Credit($0) }), header.source == .hub {
        model.parties[seat]?.granted = credit
      }
    }
    // It acknowledges, or takes back, what it knows nothing of; a worker that does that to its own mail has done with it.
    if type == .ack || type == .nack { header.attempt = 9_999 }
    if type == .ready && header.source == .hub { model.parties[seat]?.isReady = true }
    model.sendAnything(header, payload, from: seat)
  }

  // MARK: Taking and answering

  private mutating func take(_ place: Int) {
    guard let seat = speaker(place) else { return }
    for _ in 0..<(1 + choices.below(4)) { takeOne(seat) }
    if choices.byte() & 1 == 0 { grant(seat, more: 0) }
  }

  private func takeOne(_ seat: Int) {
    guard model.parties[seat]?.inbox.isEmpty == false, let mail = model.parties[seat]?.inbox.removeFirst() else {
      return
    }
    if mail.header.type.spendsCredit(flags: mail.header.flags) {
      model.parties[seat]?.taken.frames += 1
      model.parties[seat]?.taken.bytes += UInt64(mail.payload.count)
    }
    model.see(mail, at: seat)
    let awaitsAnswer =
      mail.header.type == .request || (mail.header.type == .event && mail.header.flags.contains(.needsAck))
    if awaitsAnswer { model.parties[seat]?.hand.append(mail) }
  }

  private mutating func grant(_ seat: Int) { grant(seat, more: choices.byte()) }

  private func grant(_ seat: Int, more: Int) {
    guard let party = model.parties[seat], !party.isCut else { return }
    let total = Credit(
      frames: max(party.granted.frames, party.window.frames &+ party.taken.frames &+ UInt64(more & 7)),
      bytes: max(party.granted.bytes, party.window.bytes &+ party.taken.bytes &+ UInt64(more)))
    model.parties[seat]?.granted = total
    model.send(FrameHeader(type: .credit), total.payload, from: seat)
  }

  /// Moves one piece of what is in hand on, or finishes it.
  private mutating func work(_ seat: Int, _ choice: Int) {
    guard let party = model.parties[seat], !party.hand.isEmpty else { return }
    let index = choices.below(party.hand.count)
    let mail = party.hand[index]
    if mail.header.type == .event {
      let delay = choice == 13 ? UInt32(choices.byte()) : 0
      model.parties[seat]?.past.append(party.hand[index])
      model.parties[seat]?.hand.remove(at: index)
      return answer(mail, choice < 15 ? .nack : .ack, [], ttl: delay, from: seat)
    }
    switch choice {
    case 13, 14:
      guard party.maySend else { return }
      model.parties[seat]?.hand[index].parts += 1
      answer(mail, .response, HubModel.answer(to: mail), flags: .more, from: seat)
    case 15:
      guard party.maySend else { return }
      answer(mail, .progress, Array("{}".utf8), from: seat)
    case 16: answer(mail, .ack, [], from: seat)
    default:
      model.parties[seat]?.past.append(mail)
      model.parties[seat]?.hand.remove(at: index)
      let isError = choice == 17
      answer(mail, isError ? .error : .response, isError ? [] : HubModel.answer(to: mail), from: seat)
    }
  }

  private func answer(
    _ mail: Held, _ type: FrameType, _ payload: [UInt8], flags: FrameFlags = [], ttl: UInt32 = 0, from seat: Int
  ) {
    let header = FrameHeader(
      type: type, flags: flags, destination: mail.header.source, re: mail.header.id, ttlMilliseconds: ttl,
      attempt: mail.header.attempt, method: mail.header.method)
    model.send(header, payload, from: seat)
  }

  /// An answer a second time, to another attempt, or to somebody else: it must reach nobody.
  private mutating func answerWrongly(_ seat: Int) {
    let flavour = choices.byte()
    guard let party = model.parties[seat], model.hub.seats[seat].isWorker else { return }
    let isSecond = flavour & 1 == 0
    let some = isSecond ? party.past : party.past + party.hand
    guard !some.isEmpty else { return }
    var mail = some[choices.below(some.count)]
    if !isSecond { mail.header.attempt &+= 1_000 }
    if flavour & 2 != 0 { mail.header.source = Endpoint(seat: 11, turn: 900) }
    let isPart = flavour & 4 != 0 && party.maySend
    let types: [FrameType] = [.response, .error, .ack, .nack]
    let type = isPart ? .response : types[flavour >> 3 & 3]
    answer(mail, type, HubModel.forgery, flags: isPart ? .more : [], from: seat)
  }

  // MARK: The supervisor

  private mutating func serve() {
    guard !model.calls.isEmpty else { return }
    let index = choices.below(model.calls.count)
    let call = model.calls[index]
    let flavour = choices.byte() % 3
    if flavour == 2 {
      model.calls.remove(at: index)
      model.input { hub, _, actions in
        hub.refuse(call, Refusal(.failed, "no", outcome: .notStarted), actions: &actions)
      }
      return
    }
    if flavour == 0 { model.calls.remove(at: index) }
    model.input { hub, now, actions in
      hub.answer(call, payload: Array("status".utf8), more: flavour == 1, now: now, actions: &actions)
    }
  }

  private mutating func inject() {
    let number = method(false)
    let payload = model.numbered(filling: choices.below(50))
    model.injected.insert(model.hub.seats[0].lastId + 1)
    model.input { hub, now, actions in
      do {
        let id = try hub.redeliver(
          method: number, payload: payload, isRaw: true, deaths: 3, now: now, actions: &actions)
        require(id == hub.seats[0].lastId, "the number of an injected request")
      } catch {
        require(actions.isEmpty, "nothing is asked that was refused")
      }
    }
    // What was refused left the supervisor's numbers where they were.
    model.injected = model.injected.filter { $0 <= model.hub.seats[0].lastId }
  }

  private mutating func publish() {
    let payload = model.numbered(filling: choices.below(50))
    model.input { hub, now, actions in
      hub.publish(topic: supervisorTopic, payload: payload, now: now, actions: &actions)
    }
  }

  private mutating func reload() {
    if choices.byte() & 1 == 0 {
      model.hub.adopt(limits: Self.limits(&choices))
    } else {
      model.hub.adopt(customRoles: choices.byte() & 1 == 0 ? [] : [exampleRole])
    }
  }

  // MARK: The end

  /// Everybody comes back and answers what is there, until nothing moves.
  private mutating func settle() {
    model.hub.adopt(customRoles: [exampleRole])
    for place in places.indices {
      guard let seat = places[place].seat else { continue }
      if model.parties[seat]?.isCut == true || model.hub.seats[seat].state == .draining { leave(place) }
    }
    for _ in 0..<4 { for place in places.indices { come(place) } }
    for round in 0..<1_000 {
      for place in places.indices { if let seat = speaker(place) { answerAll(seat) } }
      for call in model.calls {
        model.input { hub, now, actions in hub.answer(call, payload: [], now: now, actions: &actions) }
      }
      model.calls = []
      model.turnEnded()
      model.pass(milliseconds: 50)
      // Answers may still wait for the credit of another round when no request is open any more.
      if round > 2 && model.hub.leftovers().isEmpty { break }
    }
    let left = model.hub.leftovers()
    require(left.isEmpty, "when all is answered: \(left)")
    require(model.injected.isEmpty, "the supervisor's own questions are answered")
    for (seat, party) in model.parties {
      require(party.open.isEmpty, "seat \(seat) awaits \(party.open)")
      require(party.subscribing.isEmpty, "seat \(seat) awaits its subscriptions")
      require(party.unacknowledged.isEmpty, "seat \(seat) awaits ACK for \(party.unacknowledged)")
    }
  }

  private func answerAll(_ seat: Int) {
    repeat {
      while model.parties[seat]?.inbox.isEmpty == false { takeOne(seat) }
      let hand = model.parties[seat]?.hand ?? []
      model.parties[seat]?.hand = []
      for mail in hand {
        let isEvent = mail.header.type == .event
        answer(mail, isEvent ? .ack : .response, isEvent ? [] : HubModel.answer(to: mail), from: seat)
      }
      grant(seat, more: 255)
    } while model.parties[seat]?.inbox.isEmpty == false
  }

  /// Everybody leaves for good.
  private mutating func depart() {
    for place in places.indices {
      leave(place)
      go(place)
      go(place)
    }
    let left = model.hub.leftovers()
    require(left.isEmpty, "when all have left: \(left)")
    require(model.hub.connectedSeats.isEmpty, "nobody is connected")
    require(model.hub.subscribers.values.allSatisfy(\.isEmpty), "nobody subscribes")
    require(model.hub.membersByRole.values.allSatisfy(\.isEmpty), "no role has a member")
    require(model.hub.freeSeats.count == model.hub.seats.count - 1, "every seat is free")
  }
}

private let methodNumbers: [UInt16] = [
  256, 257, 258, 1, 8, AccessTable.firstCustomNumber, AccessTable.firstCustomNumber + 1,
]
private let supervisorTopic: UInt16 = 32
private let topicNumbers = accessTable.all.filter { $0.kind == .topic }.map(\.number)
