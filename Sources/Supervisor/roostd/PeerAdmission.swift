import RoostConfiguration
import Contracts
import EventLoop
import Frames
import Glibc
import LinuxSystem
import Logs
import MessageHub
import Supervision

/// Where connections become peers: HELLO is read, and the peer gets a seat or a reason why not. What the end of a
/// connection means is here too (``ended(_:_:)``): for a worker that roostd started, `ManagedWorker.busEnded`.
///
/// | peer | must be |
/// |---|---|
/// | managed worker | on the socketpair we gave it; its name and role are ours to say |
/// | attached worker | of our uid, with a token of `roost attach` for this role, not a descendant of a managed worker |
/// | client | of our uid (or of `allow-uids`, `allow-groups`), not a descendant of a managed worker |
///
/// A descendant of a managed worker is refused even as a client: a connector that was taken over could otherwise start
/// a `roost` of its own and ask for what its role may not.
@EventLoopActor
final class PeerAdmission {
  unowned let daemon: Daemon
  private var tokens = AttachTokens()
  private var random = SystemRandomNumberGenerator()
  /// Connections that have not said HELLO; bounded by the hello deadline and `Greeting.countMaximum`.
  private var greeting = Greeting()
  private var refusalLog = RefusalLog()

  init(daemon: Daemon) { self.daemon = daemon }

  /// Issues a token for one worker started by hand.
  func issueToken(role: String, name: String) -> AttachTokens.Token {
    tokens.issue(role: role, name: name, now: EventLoop.process.now, random: &random)
  }

  // MARK: Connections

  /// A peer has connected to the socket.
  func accepted(_ stream: ByteStream) {
    do {
      let credentials = try PeerCredentials(ofSocket: stream.descriptor)
      let connection = connect(
        stream, origin: .socket(credentials),
        helloDeadlineMilliseconds: daemon.configuration.bus.helloDeadline.wholeMilliseconds)
      connection.name = "pid \(credentials.process)"
      if let refusal = unlisted(credentials.user) {
        refused(connection, refusal)
      } else if daemon.stopping != nil {
        refused(connection, Refusal(.unavailable, "the supervisor is stopping"))
      }
    } catch {
      stream.close()
      daemon.log(.warning, "bus", "a connection was dropped: \(error)")
    }
  }

  /// Why a user may not connect; nil for our own and those of `allow-uids` and `allow-groups`.
  private func unlisted(_ user: UInt32) -> Refusal? {
    if user == geteuid() || daemon.configuration.supervisor.admittedUids.contains(user) { return nil }
    return Refusal(
      .notPermitted, "uid \(user) may not connect; allow it with allow-uids or allow-groups in supervisor.conf")
  }

  /// Cuts the connections of users that are not listed any longer, those that have not said HELLO among them.
  func cutUnlistedUsers() {
    for connection in daemon.shell.allConnections + greeting.all {
      guard case .socket(let credentials) = connection.origin else { continue }
      if let refusal = unlisted(credentials.user) { refused(connection, refusal) }
    }
  }

  /// Makes a peer of a stream; its first frame goes to ``firstFrame(_:_:of:)``. The connection lives until its stream
  /// ends.
  func connect(
    _ stream: ByteStream, origin: PeerConnection.Origin, helloDeadlineMilliseconds: UInt64
  ) -> PeerConnection {
    let connection = PeerConnection(
      stream: stream, origin: origin, outputLimit: daemon.configuration.bus.outputLimit,
      partialDeadlineMilliseconds: daemon.configuration.bus.partialFrameDeadline.wholeMilliseconds)
    let victim = greeting.insert(ObjectIdentifier(connection), connection)
    victim?.close("too many connections that say nothing")
    connection.onFrames = { [unowned self, unowned connection] run throws(FrameViolation) in
      guard let (header, payload) = try run.next() else { return }
      firstFrame(header, payload, of: connection)
      greeting.remove(ObjectIdentifier(connection))
    }
    connection.onViolation = { [unowned self, unowned connection] violation in
      refused(connection, Refusal(violation.code, violation.message))
    }
    connection.onOverflow = { [unowned self, unowned connection] overflow in
      if connection.isWorker || refusalLog.shouldLog(now: EventLoop.process.now) {
        daemon.log(.warning, "bus", "\(connection.name) \(overflow)")
      }
    }
    connection.onEnd = { [unowned self, unowned connection] reason in ended(connection, reason) }
    connection.begin(helloDeadlineMilliseconds: helloDeadlineMilliseconds)
    return connection
  }

  /// A connection has ended: its role says what that means.
  private func ended(_ connection: PeerConnection, _ reason: String) {
    greeting.remove(ObjectIdentifier(connection))
    switch connection.role {
    case .greeting, .managed: break
    case .client(let seat): daemon.shell.unseat(seat)
    case .visitor(let worker, _): worker.visitorLeft(reason)
    case .guest(let name, let seat):
      daemon.shell.unseat(seat)
      daemon.shell.change { hub, now, actions in
        hub.closeMailbox(seat, reason: "has left", now: now, actions: &actions)
        hub.releaseSeat(seat)
      }
      daemon.guestLeft(name, because: reason)
    }
    // Also one that was refused: its process has no bus.
    if case .managed(let name, let generation) = connection.origin {
      daemon.worker(named: name)?.busEnded(connection, generation)
    }
  }

  /// A peer is not let in, or is thrown out.
  func refused(_ connection: PeerConnection, _ refusal: Refusal) {
    if refusalLog.shouldLog(now: EventLoop.process.now) {
      daemon.log(.warning, "door", "\(connection.name) was refused: \(refusal.message) (\(refusal.code))")
    }
    if case .managed(let name, let generation) = connection.origin {
      daemon.worker(named: name)?.refusedAtDoor(generation, refusal)
    }
    connection.cut(refusal)
  }

  /// A peer broke the protocol: the hub cuts it.
  func broke(_ violation: FrameViolation, _ connection: PeerConnection) {
    let worker = daemon.workers.first { $0.seat == connection.seat }
    if worker != nil || refusalLog.shouldLog(now: EventLoop.process.now) {
      daemon.log(.warning, "bus", "\(connection.name) broke the protocol and is cut: \(violation.message)")
    }
    worker?.violated(violation.code)
    connection.cut(Refusal(violation.code, violation.message))
  }

  // MARK: HELLO

  /// The first frame of a connection. Afterwards its frames are another's, or it is closed.
  func firstFrame(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer, of connection: PeerConnection) {
    do throws(Refusal) {
      guard header.type == .hello else {
        throw Refusal(.outOfTurn, "the first frame must be HELLO, not \(header.type)")
      }
      guard payload.count <= Hello.byteCountMaximum else {
        throw Refusal(.badPayload, "HELLO has \(payload.count) bytes; at most \(Hello.byteCountMaximum) are read")
      }
      let hello: Hello
      do throws(Refusal) { hello = try JSONPayload.decode(Hello.self, from: payload) } catch {
        throw Refusal(.badPayload, "HELLO: \(error.message)")
      }
      try check(hello)
      connection.name = hello.name
      try admit(connection, hello)
    } catch {
      refused(connection, error)
    }
  }

  private func check(_ hello: Hello) throws(Refusal) {
    guard !hello.name.isEmpty, hello.name.utf8.count <= Hello.nameByteCountMaximum else {
      throw Refusal(.badPayload, "HELLO: 'name' has 1 to \(Hello.nameByteCountMaximum) bytes")
    }
    if let versions = hello.protocol {
      guard versions.count == 2, versions[0] <= FrameHeader.version, versions[1] >= FrameHeader.version else {
        throw Refusal(.badVersion, "this hub speaks protocol 1; 'protocol' is [lowest, highest]")
      }
    }
    if let limit = hello.frameLimit, limit < Hello.byteCountMaximum {
      throw Refusal(.badPayload, "HELLO: 'frameLimit' is at least \(Hello.byteCountMaximum)")
    }
    if let window = hello.window, window.frames == 0 || window.bytes == 0 {
      throw Refusal(.badPayload, "HELLO: a window of nothing can receive nothing")
    }
    guard (hello.methods?.count ?? 0) <= Hello.methodCountMaximum else {
      throw Refusal(.badPayload, "HELLO: at most \(Hello.methodCountMaximum) methods")
    }
  }

  private func admit(_ connection: PeerConnection, _ hello: Hello) throws(Refusal) {
    if case .managed(let name, _) = connection.origin {
      guard let worker = daemon.worker(named: name) else { throw Refusal(.gone, "this worker was removed") }
      guard hello.role == worker.role.name else {
        throw Refusal(.notPermitted, "\(name) is configured as '\(worker.role)' and greets as '\(hello.role)'")
      }
      let serves = try register(hello, worker.role, of: connection)
      worker.greeted(hello)
      connection.role = .managed(worker.seat)
      seatWorker(connection, hello, serves, at: worker.seat, configuration: worker.configuration)
      return
    }
    guard case .socket(let credentials) = connection.origin else { return }
    guard let role = daemon.shell.table.role(named: hello.role), role != .supervisor else {
      let names = daemon.shell.table.roles.keys.filter { $0 != Role.supervisor.name }
      throw Refusal(.notPermitted, "there is no role '\(hello.role)'\(NearestName.hint(hello.role, among: names))")
    }
    guard let isDescendant = daemon.descendsFromWorker(credentials.process) else {
      throw Refusal(.notPermitted, "pid \(credentials.process), which made this connection, is gone")
    }
    guard !isDescendant else {
      throw Refusal(
        .notPermitted, "pid \(credentials.process) was started by a managed worker; those have their own bus")
    }
    if role == .client {
      try admitClient(connection, hello)
    } else {
      try admitAttached(connection, hello, role, credentials)
    }
  }

  private func register(
    _ hello: Hello, _ role: Role, of connection: PeerConnection
  ) throws(Refusal) -> [UInt16] {
    let methods = hello.methods ?? []
    let numbers: [UInt16]
    let grew: Bool
    // Tried on a copy: what would not fit does not stay.
    var table = daemon.shell.table
    do throws(AccessTable.ServeProblem) { (numbers, grew) = try table.register(methods: methods, of: role) } catch {
      throw Refusal(.notPermitted, error.description)
    }
    guard grew else { return numbers }
    try daemon.registry.check(table, for: connection)
    daemon.shell.change { hub, _, _ in hub.adopt(table) }
    daemon.registry.changed()
    return numbers
  }

  private func admitClient(_ connection: PeerConnection, _ hello: Hello) throws(Refusal) {
    guard hello.methods?.isEmpty ?? true else {
      throw Refusal(.notPermitted, "a client serves nothing; attach as a worker's role with 'roost attach'")
    }
    var isOfOtherUser = true
    if case .socket(let credentials) = connection.origin { isOfOtherUser = credentials.user != geteuid() }
    let seat = daemon.shell.change { hub, _, _ in
      hub.joinClient(
        name: hello.name, role: .client, window: hello.window ?? .standard, lengthMaximum: frameLimit(hello),
        grantsAnswers: hello.answerGrants ?? false, isOfOtherUser: isOfOtherUser)
    }
    guard let seat else { throw Refusal(.full, "all seats of the bus are taken") }
    connection.role = .client(seat)
    daemon.shell.seat(connection)
    welcome(connection, hello, seat, configuration: nil)
  }

  private func admitAttached(
    _ connection: PeerConnection, _ hello: Hello, _ role: Role, _ credentials: PeerCredentials
  ) throws(Refusal) {
    // A worker takes what others mean for its role, secrets among it: no user but our own may take its place.
    guard credentials.user == geteuid() else {
      throw Refusal(
        .notPermitted,
        "only uid \(geteuid()), which roostd runs as, may attach a worker; uid \(credentials.user) may be a client")
    }
    guard let text = hello.token else {
      throw Refusal(.badToken, "role '\(role)' needs a one-time token: 'roost attach \(role)' prints one")
    }
    let ticket: AttachTokens.Ticket
    do throws(AttachTokens.Problem) {
      ticket = try tokens.redeem(text, role: role.name, now: EventLoop.process.now)
    } catch {
      throw Refusal(.badToken, error.description)
    }
    connection.name = ticket.name
    // Before a worker makes room for one that could not be let in.
    let serves = try register(hello, role, of: connection)
    if let worker = daemon.worker(named: ticket.name) {
      guard worker.role == role, !worker.isLeaving else {
        throw Refusal(.nameTaken, "since the token was issued, a reload has given \(ticket.name) to another worker")
      }
      // Waits unread until the managed instance is gone; its frames stay in the kernel, or in the stream.
      connection.hold()
      connection.didJoin()
      worker.visit(ManagedWorker.Visitor(connection: connection, hello: hello, pid: credentials.process))
      return
    }
    guard daemon.guest(named: ticket.name) == nil else {
      throw Refusal(.nameTaken, "\(ticket.name) is attached already")
    }
    try daemon.registry.check(daemon.shell.table, for: connection)
    try seatGuest(connection, hello, role, serves, name: ticket.name, process: credentials.process)
  }

  /// A worker started by hand that `supervisor.conf` does not name: it has a seat for as long as it stays.
  private func seatGuest(
    _ connection: PeerConnection, _ hello: Hello, _ role: Role, _ serves: [UInt16], name: String, process: Int32
  ) throws(Refusal) {
    guard let seat = daemon.shell.change({ hub, _, _ in hub.reserveSeat(name: name, role: role) }) else {
      throw Refusal(.full, "all seats of the bus are taken")
    }
    daemon.shell.change { hub, _, _ in hub.openMailbox(seat) }
    // Before it is welcomed: a WELCOME too long for it ends it at once.
    connection.role = .guest(name: name, seat)
    daemon.guestJoined(name, role: role, process: process)
    seatWorker(connection, hello, serves, at: seat, configuration: nil)
  }

  /// Seats a visitor: the place of its worker is free.
  func admitVisitor(_ connection: PeerConnection, _ hello: Hello, to worker: ManagedWorker) {
    do throws(Refusal) {
      let serves = try register(hello, worker.role, of: connection)
      connection.role = .visitor(worker, worker.seat)
      seatWorker(connection, hello, serves, at: worker.seat, configuration: worker.configuration)
      connection.resume()
    } catch {
      refused(connection, error)
    }
  }

  private func seatWorker(
    _ connection: PeerConnection, _ hello: Hello, _ serves: [UInt16], at seat: SeatIndex,
    configuration: WorkerConfiguration?
  ) {
    daemon.shell.change { hub, _, _ in
      hub.joinWorker(
        seat, serves: serves, window: hello.window ?? .standard, lengthMaximum: frameLimit(hello),
        knowsAnswerCredit: hello.answerCredit ?? false, knowsCallerRole: hello.callerRole ?? false)
    }
    daemon.shell.seat(connection)
    welcome(connection, hello, seat, configuration: configuration)
    daemon.registry.changed()
  }

  private func welcome(
    _ connection: PeerConnection, _ hello: Hello, _ seat: SeatIndex, configuration: WorkerConfiguration?
  ) {
    let limit = frameLimit(hello)
    connection.limitFrames(to: limit)
    daemon.workers.first { $0.seat == seat }?.recordGreeting(connection, hello)
    var welcome = Welcome(
      endpoint: daemon.shell.hub.endpoint(of: seat).rawValue, frameLimit: limit, window: daemon.shell.hub.limits.window,
      answerWindow: daemon.shell.hub.limits.answerWindow, registry: daemon.shell.hub.registry())
    if hello.role == Role.client.name, hello.answerGrants == true { welcome.answerGrants = true }
    if let configuration { welcome.configuration = JSONValue(daemon.configuration.settingsSent(to: configuration)) }
    if connection.attachedTo != nil || configuration != nil { welcome.logLevels = daemon.logLevels }
    let payload = JSONPayload.encode(welcome)
    guard payload.count + FrameHeader.byteCount <= limit else {
      refused(
        connection,
        Refusal(.badLength, "WELCOME with the registry has \(payload.count) bytes, more than the agreed \(limit)"))
      return
    }
    payload.withUnsafeBytes { connection.send(FrameHeader(type: .welcome, payloadByteCount: $0.count), $0) }
  }

  /// What both sides take: the smaller of the two.
  private func frameLimit(_ hello: Hello) -> Int {
    min(daemon.configuration.bus.frameLimit, hello.frameLimit ?? FrameReader.defaultLengthMaximum)
  }
}

extension JSONValue {
  /// Settings as they are sent to a worker.
  init(_ settings: ConfigurationValue) {
    let bytes = JSONPayload.encode(settings)
    // What was just written as JSON can be read as JSON.
    self = (try? JSONPayload.decode(JSONValue.self, from: bytes)) ?? .object([:])
  }
}
