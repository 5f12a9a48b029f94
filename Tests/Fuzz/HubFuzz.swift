// Fuzz entry for the message hub: not its bytes, which the frame reader has checked, but its states. `Scripts/fuzz.sh`
// builds and runs it.
//
// with: Tests/Fuzz/HubModel.swift Tests/Fuzz/HubPlay+Asking.swift Tests/Fuzz/HubPlay+Answering.swift
// with: Tests/Supervisor/MessageHubTests/HubAccounts.swift
// libraries: FoundationEssentials
// corpus: hub
// longest: 1024
//
// The input is a sequence of choices: bounds, then steps. A step is a party (workers, clients; each comes, leaves, dies
// and comes again) and what it does: ask, answer in all forms and wrongly, be late with credit, send any frame with any
// fields, wait; or what the supervisor does: serve, refuse, drain, close a mailbox, release a seat, reload. HubModel
// holds the hub to the protocol, HubAccounts adds its books up every few steps. At the end everybody comes back and
// answers until nothing moves: then no question may be open and no account stand above zero. Then all leave for good,
// and nothing may be left of them.
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

let exampleRole = AccessTable.CustomRole(
  name: "example", serves: ["example.*"], mayCall: ["relay.*", "supervisor.*"], callableBy: ["client"])
let accessTable = AccessTable(customRoles: [exampleRole])

/// One input, played.
struct Play {
  /// Somebody who may be on the bus: a worker with its seat, or a client with whatever seat it gets.
  struct Place {
    /// nil for a client.
    var workerRole: Role?
    var seat: SeatIndex?
  }

  var choices: Choices
  let model: HubModel
  var places: [Place]

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
  static func limits(_ choices: inout Choices) -> HubLimits {
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

  mutating func step() {
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

  func speaker(_ place: Int) -> SeatIndex? {
    guard let seat = places[place].seat, let party = model.parties[seat], !party.isCut else { return nil }
    return seat
  }

  mutating func window() -> Window {
    Window(frames: UInt64(choices.below(6)), bytes: UInt64(choices.byte()))
  }

  // MARK: Coming and going

  /// The next stage of a place's life: a seat, a mailbox, a connection, READY.
  mutating func come(_ place: Int) {
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

  mutating func join(_ seat: SeatIndex, _ role: Role) {
    let names =
      role.number < Role.firstCustomNumber
      ? accessTable.all.filter { $0.kind == .method && $0.server == role }.map(\.name)
      : ["example.echo", "example.\(choices.below(4))"]
    let window = window()
    do {
      let serves = try model.hub.register(methods: names, of: role).numbers
      let knowsAnswerCredit = seat.number % 2 == 1
      model.hub.joinWorker(seat, serves: serves, window: window, knowsAnswerCredit: knowsAnswerCredit)
      model.parties[seat] = party(window, isReady: false)
      model.parties[seat]?.knowsAnswerCredit = knowsAnswerCredit
    } catch {
      // The role may not serve these any more: roostd refuses it at the door.
    }
  }

  func party(_ window: Window, isReady: Bool) -> Party {
    let own = model.hub.limits.window
    var party = Party(
      allowed: Credit(frames: own.frames, bytes: own.bytes), window: window,
      granted: Credit(frames: window.frames, bytes: window.bytes))
    party.isReady = isReady
    return party
  }

  mutating func leave(_ place: Int) {
    guard let seat = places[place].seat, model.parties[seat] != nil else { return }
    model.leave(seat)
    if places[place].workerRole == nil { places[place].seat = nil }
  }

  /// A worker that is away is stopped; one that is stopped leaves the configuration.
  mutating func go(_ place: Int) {
    guard places[place].workerRole != nil, let seat = places[place].seat, model.parties[seat] == nil else { return }
    if model.hub.seats[seat].state == .closed {
      model.hub.releaseSeat(seat)
      places[place].seat = nil
    } else {
      model.input { hub, now, actions in hub.closeMailbox(seat, reason: "stopped", now: now, actions: &actions) }
    }
  }

  mutating func drain(_ seat: SeatIndex) {
    model.hub.beginDrain(seat)
    model.parties[seat]?.isReady = true
  }

  // MARK: The supervisor

  mutating func serve() {
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

  mutating func inject() {
    let number = method(false)
    let payload = model.numbered(filling: choices.below(50))
    model.injected.insert(model.hub.seats[.supervisor].lastId + 1)
    model.input { hub, now, actions in
      do {
        let id = try hub.redeliver(
          method: number, payload: payload, isRaw: true, deaths: 3, now: now, actions: &actions)
        require(id == hub.seats[.supervisor].lastId, "the number of an injected request")
      } catch {
        require(actions.isEmpty, "nothing is asked that was refused")
      }
    }
    // What was refused left the supervisor's numbers where they were.
    model.injected = model.injected.filter { $0 <= model.hub.seats[.supervisor].lastId }
  }

  mutating func publish() {
    let payload = model.numbered(filling: choices.below(50))
    model.input { hub, now, actions in
      hub.publish(topic: supervisorTopic, payload: payload, now: now, actions: &actions)
    }
  }

  mutating func reload() {
    if choices.byte() & 1 == 0 {
      model.hub.adopt(limits: Self.limits(&choices))
    } else {
      model.hub.adopt(customRoles: choices.byte() & 1 == 0 ? [] : [exampleRole])
    }
  }

  // MARK: The end

  /// Everybody comes back and answers what is there, until nothing moves.
  mutating func settle() {
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

  func answerAll(_ seat: SeatIndex) {
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
  mutating func depart() {
    for place in places.indices {
      leave(place)
      go(place)
      go(place)
    }
    let left = model.hub.leftovers()
    require(left.isEmpty, "when all have left: \(left)")
    require(!model.hub.seats.all.contains { $0.isConnected }, "no peer is connected")
    require(model.hub.subscribers.isEmpty, "no peer subscribes")
    require(model.hub.seats.isVacant, "every seat is free, and no role has a member")
  }
}
