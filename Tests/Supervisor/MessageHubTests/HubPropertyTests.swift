import Clocks
import Contracts
import Frames
import Testing

@testable import MessageHub

// Random peers against an obvious model.
//
// Peers join, leave, die, are late with credit, answer wrongly, cancel, subscribe; time passes. The model knows only
// what each party has seen: which requests await their answer, which event numbers came from which sender, what was
// delivered once. The bench itself holds the hub to credit. At the end everything is drained and all accounts must be
// at zero.

@Suite struct HubPropertyTests {
  @Test("Whatever peers do, each request is answered once and no account is off", arguments: 0..<200)
  func anything(seed: Int) {
    var chaos = Chaos(seed: UInt64(seed))
    for step in 0..<2_000 {
      chaos.step()
      if step % 50 == 0 { chaos.bench.checkAccounts("seed \(seed), step \(step)") }
    }
    chaos.drain()
    chaos.bench.expectNothingLeft("seed \(seed)")
    chaos.expectAllAnswered()
  }
}

/// One run: peers that act at random, and what must be true of what they see.
struct Chaos {
  /// One connection of a peer: what it has in flight, and how far the order of its events is.
  struct Actor {
    var seat: SeatIndex
    var isWorker = false
    var isAway = false
    /// Taken and not finished; finished ones stay a while for wrong answers.
    var hand: [Mail] = []
    var past: [Mail] = []
    /// The last event number from each sender in order, by sender, topic or not, since the last death here.
    var lastEvent: [String: Int] = [:]
  }

  let seed: UInt64
  let bench: HubBench
  private var random: SeededGenerator
  private var actors: [Actor] = []
  private var eventNumber = 0
  private var seenOnce: Set<String> = []
  private var isDraining = false

  init(seed: UInt64) {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    var limits = HubLimits()
    limits.mailboxFrames = 12
    limits.clientMailboxFrames = 8
    limits.clientMailboxBytes = 600
    limits.mailboxBytes = 1_200
    limits.poolBytes = seed % 3 == 0 ? 1_500 : 1 << 20
    limits.outstandingRequests = 20
    limits.cancelGraceMilliseconds = 40
    limits.window = Window(frames: 16, bytes: 1_000)
    limits.answerWindow = Window(frames: 4, bytes: 150)
    bench = HubBench(limits: limits)
    for number in 0..<3 {
      // One of the three does not know of answer windows.
      let seat = bench.worker("relays \(number)", window: window(), knowsAnswerCredit: number > 0)
      actors.append(Actor(seat: seat, isWorker: true))
    }
    for number in 0..<2 {
      let seat = bench.worker("planner \(number)", role: .outboxPlanner, window: window())
      actors.append(Actor(seat: seat, isWorker: true))
      bench.subscribe(seat)
    }
    for number in 0..<4 {
      let seat = bench.client("app \(number)", window: window(), grantsAnswers: number % 2 == 1)
      actors.append(Actor(seat: seat))
    }
  }

  // MARK: Steps

  mutating func step() {
    let actor = Int.random(in: actors.indices, using: &random)
    if actors[actor].isAway { return comeBack(actor) }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<30: take(actor)
    case 30..<60: if isConnector(actor) { work(actor) } else { ask(actor) }
    case 60..<70: tell(actor)
    case 70..<85: work(actor)
    case 85..<88: answerWrongly(actor)
    case 88..<91: cancel(actor)
    case 91..<93: bench.pass(milliseconds: UInt64.random(in: 1...30, using: &random))
    case 93..<97:
      bench.peers[actors[actor].seat]!.grantsCredit = Int.random(in: 0..<3, using: &random) > 0
      bench.grant(actors[actor].seat)
    case 97..<99: subscribe(actor)
    default: leave(actor)
    }
  }

  private mutating func window() -> Window {
    Window(frames: .random(in: 1...8, using: &random), bytes: .random(in: 1...600, using: &random))
  }

  private func isConnector(_ actor: Int) -> Bool { actor < 3 }

  private mutating func text(_ actor: Int) -> String {
    eventNumber += 1
    let padding = String(repeating: ".", count: Int.random(in: 0...60, using: &random))
    let isPoison = Int.random(in: 0..<60, using: &random) == 0
    return "\(bench.endpoint(of: actors[actor].seat).rawValue) \(eventNumber) \(isPoison ? "poison" : padding)"
  }

  private mutating func ttl() -> UInt32 {
    Int.random(in: 0..<4, using: &random) > 0 ? 0 : .random(in: 1...200, using: &random)
  }

  private mutating func destination() -> Endpoint {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: .hub
    case 1: Endpoint(role: Role.relayConnector.number)
    case 2:
      Endpoint(
        seat: actors[Int.random(in: actors.indices, using: &random)].seat.number,
        turn: .random(in: 0...3, using: &random))
    default: bench.endpoint(of: actors[Int.random(in: 0..<3, using: &random)].seat)
    }
  }

  private mutating func ask(_ actor: Int) {
    let seat = actors[actor].seat
    guard bench.peers[seat]!.maySend else { return }
    let method: UInt16 = Int.random(in: 0..<12, using: &random) == 0 ? .status : .publish
    let flags: FrameFlags = Int.random(in: 0..<4, using: &random) == 0 ? .atMostOnce : []
    bench.request(
      text(actor), from: seat, method: method, to: method == .status ? .hub : destination(), ttl: ttl(), flags: flags)
  }

  /// Sends an event, to a connector or to the topic.
  private mutating func tell(_ actor: Int) {
    let seat = actors[actor].seat
    guard bench.peers[seat]!.maySend else { return }
    var flags: FrameFlags = Bool.random(using: &random) ? .needsAck : []
    if Int.random(in: 0..<4, using: &random) == 0 { flags.insert(.atMostOnce) }
    let isTopic = isConnector(actor)
    bench.event(
      text(actor), from: seat, method: isTopic ? .states : .publish, to: isTopic ? .hub : destination(),
      ttl: Int.random(in: 0..<4, using: &random) == 0 ? ttl() : 0, flags: flags)
  }

  private mutating func take(_ actor: Int) {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      guard let mail = bench.take(actors[actor].seat) else { return }
      see(mail, actor)
      let needsAnswer = mail.type == .request || (mail.type == .event && mail.header.flags.contains(.needsAck))
      if needsAnswer { actors[actor].hand.append(mail) }
      if mail.text.hasSuffix("poison") && !isDraining { return leave(actor) }
    }
  }

  /// What must hold of every frame a peer gets.
  private mutating func see(_ mail: Mail, _ actor: Int) {
    guard mail.type == .event || mail.type == .request else { return }
    let words = mail.text.split(separator: " ")
    guard words.count >= 2, let number = Int(words[1]) else {
      Issue.record("seed \(seed): an event without its number: \(mail.text)")
      return
    }
    #expect(words[0] == "\(mail.header.source.rawValue)", "seed \(seed): the source is the sender")
    #expect(mail.header.destination == bench.endpoint(of: actors[actor].seat), "seed \(seed)")
    if mail.header.flags.contains(.atMostOnce) {
      let isNew = seenOnce.insert("\(actors[actor].seat) \(number)").inserted
      #expect(isNew, "seed \(seed): AT_MOST_ONCE \(number) came twice")
    }
    // A second delivery is out of order by its nature; all others between one pair keep theirs.
    guard mail.header.attempt < 2, mail.type == .event else { return }
    let pair = String(words[0])
    #expect(actors[actor].lastEvent[pair, default: 0] < number, "seed \(seed): \(number) came too late")
    actors[actor].lastEvent[pair] = number
  }

  /// Finishes, or moves on, one piece of what is in hand.
  private mutating func work(_ actor: Int) {
    guard !actors[actor].hand.isEmpty else { return serveSupervisor() }
    let index = Int.random(in: actors[actor].hand.indices, using: &random)
    let mail = actors[actor].hand[index]
    let seat = actors[actor].seat
    let choice = Int.random(in: 0..<8, using: &random)
    if mail.type == .request {
      switch choice {
      case 0:
        let text = "part" + String(repeating: ".", count: Int.random(in: 0...60, using: &random))
        bench.stream(mail, text, atMost: Int.random(in: 1...6, using: &random), from: seat)
        return
      case 1 where bench.peers[seat]!.maySend: return bench.answer(mail, .progress, "{}", from: seat)
      case 2: return bench.answer(mail, .ack, from: seat)
      case 3: bench.answer(mail, .error, "{}", from: seat)
      default: bench.answer(mail, .response, "done", from: seat)
      }
    } else if choice == 0 {
      bench.nack(mail, afterMilliseconds: .random(in: 0...40, using: &random), from: seat)
    } else {
      bench.answer(mail, .ack, from: seat)
    }
    actors[actor].past.append(actors[actor].hand.remove(at: index))
  }

  private mutating func serveSupervisor() {
    guard !bench.calls.isEmpty else { return }
    let index = Int.random(in: bench.calls.indices, using: &random)
    let call = bench.calls[index]
    let more = Bool.random(using: &random)
    bench.input { $0.answer(call, payload: Array("status".utf8), more: more, now: $1, actions: &$2) }
    if !more { bench.calls.remove(at: index) }
  }

  /// Duplicates, old attempts, answers for others: none may reach a peer.
  private mutating func answerWrongly(_ actor: Int) {
    guard actors[actor].isWorker, var mail = (actors[actor].past + actors[actor].hand).randomElement(using: &random)
    else { return }
    let seat = actors[actor].seat
    switch Int.random(in: 0..<3, using: &random) {
    case 0 where actors[actor].past.contains { $0.header.re == mail.header.re }: break
    case 1: mail.header.attempt &+= 3
    default: mail.header.source = Endpoint(seat: Int.random(in: 1...12, using: &random), turn: 900)
    }
    let isFree = bench.peers[seat]!.maySend
    let isKnown = actors[actor].hand.contains { $0.header == mail.header }
    if isKnown { return }
    let type: FrameType = [.response, .error, .ack, .nack].randomElement(using: &random)!
    bench.answer(
      mail, type, "{}", flags: type == .response && isFree && Bool.random(using: &random) ? .more : [], from: seat)
  }

  private mutating func cancel(_ actor: Int) {
    // In order: the iteration of a set differs from one process to the next, and a seed must not.
    guard let id = bench.peers[actors[actor].seat]!.open.sorted().randomElement(using: &random) else { return }
    bench.cancel(id, from: actors[actor].seat)
  }

  private mutating func subscribe(_ actor: Int) {
    guard !isConnector(actor), bench.peers[actors[actor].seat]!.maySend else { return }
    let type: FrameType = Int.random(in: 0..<4, using: &random) == 0 ? .unsubscribe : .subscribe
    let seat = actors[actor].seat
    bench.send(FrameHeader(type: type, id: bench.nextId(of: seat), method: .states), from: seat)
  }

  // MARK: Coming and going

  private mutating func leave(_ actor: Int) {
    let seat = actors[actor].seat
    bench.leave(seat)
    actors[actor] = Actor(seat: seat, isWorker: actors[actor].isWorker, isAway: true)
    if actors[actor].isWorker && Int.random(in: 0..<8, using: &random) == 0 {
      bench.closeMailbox(seat)
    }
  }

  private mutating func comeBack(_ actor: Int) {
    guard Bool.random(using: &random) else { return }
    actors[actor].isAway = false
    if actors[actor].isWorker {
      bench.hub.openMailbox(actors[actor].seat)
      bench.join(actors[actor].seat, window: window(), knowsAnswerCredit: actor > 0)
    } else {
      actors[actor].seat = bench.client("app", window: window())
    }
  }

  // MARK: The end

  /// Every peer comes back, reads and answers until nothing moves.
  mutating func drain() {
    isDraining = true
    for actor in actors.indices {
      while actors[actor].isAway { comeBack(actor) }
      bench.peers[actors[actor].seat]!.grantsCredit = true
      bench.grant(actors[actor].seat)
    }
    for _ in 0..<100 {
      bench.pass(milliseconds: 50)
      for actor in actors.indices {
        repeat {
          take(actor)
          for mail in actors[actor].hand {
            bench.answer(mail, mail.type == .event ? .ack : .response, from: actors[actor].seat)
          }
          actors[actor].hand = []
        } while !bench.peers[actors[actor].seat]!.inbox.isEmpty
      }
      for call in bench.calls { bench.input { $0.answer(call, payload: [], now: $1, actions: &$2) } }
      bench.calls = []
    }
  }

  func expectAllAnswered() {
    for actor in actors {
      #expect(bench.peers[actor.seat]!.open.isEmpty, "seed \(seed): unanswered at seat \(actor.seat)")
    }
    #expect(bench.cuts.isEmpty, "seed \(seed): \(bench.cuts)")
  }
}
