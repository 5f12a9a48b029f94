import Clocks
import Contracts
import EventLoop
import Frames
import MessageHub

/// A supervisor with nothing but its hub: the real `MessageHub` behind a real socket, and a closure for its methods. It
/// can go away and come back at the same path.
@EventLoopActor
final class FakeHub {
  let path: String
  var hub: MessageHub
  /// Serves the supervisor's methods: the call, the method's name, the payload.
  var onServe: (@EventLoopActor (HubCall, String, [UInt8]) -> Void)?
  /// Calls given up by their callers.
  private(set) var cancelled: [HubCall] = []
  /// A caller that had no room has room again.
  var onRoom: (@EventLoopActor () -> Void)?

  private var listener: StreamListener?
  private var peers: [SeatIndex: Peer] = [:]
  private var greeting: [ObjectIdentifier: Peer] = [:]
  private var workerSeats: [String: SeatIndex] = [:]
  private let table: AccessTable
  private let limits: HubLimits
  private let tellsAnswerWindow: Bool
  private let timer = LoopTimer()

  static let exampleRole = AccessTable.CustomRole(
    name: "example", serves: ["example.*"], mayCall: [], callableBy: ["client"])

  /// `tellsAnswerWindow` false: a hub from before there were any.
  init(
    path: String, limits: HubLimits = HubLimits(), roles: [AccessTable.CustomRole] = [exampleRole],
    tellsAnswerWindow: Bool = true
  ) throws {
    self.path = path
    self.limits = limits
    self.tellsAnswerWindow = tellsAnswerWindow
    table = AccessTable(customRoles: roles)
    hub = Self.makeHub(table, limits)
    try start()
  }

  private static func makeHub(_ table: AccessTable, _ limits: HubLimits) -> MessageHub {
    MessageHub(limits: limits, table: table, traceSeed: 1)
  }

  func start() throws {
    listener = try StreamListener(path: path) { [unowned self] stream in accept(stream) }
  }

  /// Dies: every connection ends, nothing is remembered.
  func stop() {
    listener?.close()
    listener = nil
    for peer in peers.values { peer.stream.close() }
    for peer in greeting.values { peer.stream.close() }
    peers = [:]
    greeting = [:]
    workerSeats = [:]
    hub = Self.makeHub(table, limits)
  }

  /// Peers on the bus.
  var peerCount: Int { peers.count }

  func answer(_ call: HubCall, _ text: String, more: Bool = false) -> Bool {
    var isReady = false
    change { hub, actions in
      isReady = hub.answer(call, payload: Array(text.utf8), more: more, now: EventLoop.process.now, actions: &actions)
    }
    return isReady
  }

  func refuse(_ call: HubCall, _ refusal: Refusal) {
    change { hub, actions in hub.refuse(call, refusal, actions: &actions) }
  }

  func publish(_ topic: String, _ text: String) {
    guard let number = hub.table[topic]?.number else { return }
    change { hub, actions in
      hub.publish(topic: number, payload: Array(text.utf8), now: EventLoop.process.now, actions: &actions)
    }
  }

  // MARK: Peers

  private final class Peer {
    let stream: ByteStream
    var seat: SeatIndex?
    init(_ stream: ByteStream) { self.stream = stream }
  }

  private func accept(_ stream: ByteStream) {
    let peer = Peer(stream)
    greeting[ObjectIdentifier(peer)] = peer
    stream.onInput = { [unowned self, unowned peer] bytes in received(UnsafeRawBufferPointer(bytes), from: peer) }
    stream.onEnd = { [unowned self, unowned peer] _ in ended(peer) }
    stream.startReading()
  }

  private func ended(_ peer: Peer) {
    greeting[ObjectIdentifier(peer)] = nil
    guard let seat = peer.seat, peers.removeValue(forKey: seat) != nil else { return }
    change { hub, actions in _ = hub.left(seat, now: EventLoop.process.now, actions: &actions) }
  }

  private func received(_ bytes: UnsafeRawBufferPointer, from peer: Peer) -> Int {
    var used = 0
    do throws(FrameViolation) {
      while !peer.stream.isClosed,
        case .frame(let header, let payload) = try FrameReader().next(
          in: UnsafeRawBufferPointer(rebasing: bytes[used...]))
      {
        used += header.frameByteCount
        if let seat = peer.seat {
          change(input: payload) { hub, actions in
            hub.received(header, payload: payload, from: seat, now: EventLoop.process.now, actions: &actions)
          }
        } else {
          greet(peer, payload)
        }
      }
    } catch {
      peer.stream.close()
      ended(peer)
    }
    return peer.stream.isClosed ? bytes.count : used
  }

  private func greet(_ peer: Peer, _ payload: UnsafeRawBufferPointer) {
    let greeting = try? JSONPayload.decode(Hello.self, from: payload)
    guard let hello = greeting, let role = table.role(named: hello.role) else {
      send(peer, .fatal, JSONPayload.encode(Refusal(.badPayload, "this is no HELLO")))
      peer.stream.flushAndClose()
      return
    }
    let window = hello.window ?? .standard
    let seat: SeatIndex?
    if role == .client {
      seat = hub.joinClient(name: hello.name, role: role, window: window, grantsAnswers: knowsGrants(hello))
    } else {
      seat = workerSeats[hello.name] ?? hub.reserveSeat(name: hello.name, role: role)
      let numbers = (try? hub.register(methods: hello.methods ?? [], of: role).numbers) ?? []
      if let seat {
        hub.openMailbox(seat)
        let knows = tellsAnswerWindow && hello.answerCredit == true
        hub.joinWorker(seat, serves: numbers, window: window, knowsAnswerCredit: knows)
      }
    }
    guard let seat else { return peer.stream.close() }
    if role != .client { workerSeats[hello.name] = seat }
    peer.seat = seat
    self.greeting[ObjectIdentifier(peer)] = nil
    peers[seat] = peer
    var welcome = Welcome(
      endpoint: hub.endpoint(of: seat).rawValue, frameLimit: FrameReader.defaultLengthMaximum,
      window: limits.window, answerWindow: tellsAnswerWindow ? limits.answerWindow : nil, registry: hub.registry())
    if knowsGrants(hello) { welcome.answerGrants = true }
    send(peer, .welcome, JSONPayload.encode(welcome))
  }

  private func knowsGrants(_ hello: Hello) -> Bool { tellsAnswerWindow && hello.answerGrants == true }

  private func send(_ peer: Peer, _ type: FrameType, _ payload: [UInt8]) {
    payload.withUnsafeBytes { send(peer, FrameHeader(type: type, payloadByteCount: payload.count), $0) }
  }

  private func send(_ peer: Peer, _ header: FrameHeader, _ payload: UnsafeRawBufferPointer) {
    var bytes = [UInt8](repeating: 0, count: FrameHeader.byteCount)
    var header = header
    header.payloadByteCount = payload.count
    bytes.withUnsafeMutableBytes { header.write(to: $0.baseAddress!) }
    bytes.withUnsafeBytes { peer.stream.write($0) }
    peer.stream.write(payload)
  }

  // MARK: The machine

  private func change(
    input: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
    _ body: (inout MessageHub, inout [HubAction]) -> Void
  ) {
    var actions: [HubAction] = []
    body(&hub, &actions)
    hub.turnEnded(actions: &actions)
    for action in actions { perform(action, input) }
    guard let next = hub.nextDeadline else { return }
    timer.set(at: next) { [unowned self] in
      change { hub, actions in hub.timerFired(now: EventLoop.process.now, actions: &actions) }
    }
  }

  private func perform(_ action: HubAction, _ input: UnsafeRawBufferPointer) {
    switch action {
    case .send(let seat, let header, let payload):
      guard let peer = peers[seat] else { return }
      switch payload {
      case .none: send(peer, header, UnsafeRawBufferPointer(start: nil, count: 0))
      case .input: send(peer, header, input)
      case .stored(let bytes): bytes.withUnsafeBytes { send(peer, header, $0) }
      }
    case .cut(let seat, let violation):
      guard let peer = peers[seat] else { return }
      send(peer, .fatal, JSONPayload.encode(Refusal(violation.code, violation.message)))
      peer.stream.flushAndClose()
      ended(peer)
    case .serve(let call): onServe?(call, hub.table[call.method]?.name ?? "?", Array(input))
    case .serviceCancelled(let call): cancelled.append(call)
    case .serviceMayContinue: onRoom?()
    case .control(let seat, let header):
      if header.type == .goodbye, let peer = peers[seat] {
        peer.stream.close()
        ended(peer)
      }
    case .keepDeadLetter, .retryKilled, .injectedAnswer: break
    }
  }
}
