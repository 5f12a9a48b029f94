public import EventLoop
public import Frames

// One peer's end of the bus: RBP/1 over a byte stream.
//
// What it does: the greeting, ids, credit in both directions, requests with their answers, and the handlers for
// incoming frames. The same code runs in a managed worker (descriptor 3), an attached worker and a client (the socket);
// it contains no method of any worker.
//
// Senders wait for credit in a line, first come first served, so that a stream of parts and a single request share the
// credit fairly. Requests that a worker makes while it serves a request have a line and a part of the window of their
// own (`BusConnection+Sending.swift`). A part joins the line only when its own answer's window has room, so that parts
// for a caller that takes none do not block the line. Terminal answers and acknowledgements bypass both lines.
// Receiving never waits: what arrives is bounded by the credit that this side gave, or ends something that this side
// began.
//
// Rejected: reconnecting here. A new connection has a new endpoint and new numbers; the layer above (`RoostClient`)
// knows which requests may be repeated.

/// A connection to the hub. Made by ``open(_:greeting:deadline:)``; it receives from ``start()`` on. It ends by
/// ``leave()``, or for another reason, which ``onEnd`` reports.
@EventLoopActor
public final class BusConnection {
  /// The hub's WELCOME.
  public let welcome: Welcome
  /// The names of methods, topics, roles and workers, with the numbers that headers use; replaced when the hub
  /// announces a change.
  public private(set) var registry: Registry

  /// Called with a request to this peer.
  public var onRequest: (@EventLoopActor (BusRequest) -> Void)?
  /// Called with an event of a subscribed topic, or with an event that was sent to this peer.
  public var onEvent: (@EventLoopActor (BusEvent) -> Void)?
  /// Called when events of a topic were dropped because this peer did not keep up: topic name, number of events.
  public var onGap: (@EventLoopActor (String, UInt64) -> Void)?
  /// Called when the hub sends DRAIN: this worker must finish within so many milliseconds.
  public var onDrain: (@EventLoopActor (UInt32) -> Void)?
  /// Called with new settings for this worker, as JSON.
  public var onConfiguration: (@EventLoopActor (JSONValue) -> Void)?
  /// Called when the registry has changed.
  public var onRegistry: (@EventLoopActor (Registry) -> Void)?
  /// Called when the connection has ended, with the reason; not after ``leave()``.
  public var onEnd: (@EventLoopActor (Refusal) -> Void)?

  let stream: ByteStream
  private let reader: FrameReader
  var ledger: CreditLedger
  /// What the hub may send of each answer before its first CREDIT; nil when parts spend the connection's credit.
  let partWindow: Window?
  private var lastId: UInt64 = 0
  private var methodNames: [UInt16: String] = [:]
  private var answers: [UInt64: BusAnswer] = [:]
  private var acknowledgements: [UInt64: CheckedContinuation<Refusal?, Never>] = [:]
  private var serving: [RequestKey: BusRequest] = [:]
  var lines = Lines()
  /// The number of parts that wait for the windows of their answers.
  var partsWaitingCount = 0
  private(set) var ending: Refusal?

  /// Whether the connection has not ended.
  public var isOpen: Bool { ending == nil }

  private struct RequestKey: Hashable {
    let caller: Endpoint
    let id: UInt64
  }

  /// With `serves`, this peer answers requests, and reserves a part of its credit for requests that it makes meanwhile.
  init(stream: ByteStream, welcome: Welcome, window: Window, serves: Bool) {
    self.stream = stream
    self.welcome = welcome
    registry = welcome.registry
    reader = FrameReader(lengthMaximum: welcome.frameLimit)
    ledger = CreditLedger(granted: welcome.window, window: window, keepsReserve: serves)
    partWindow = welcome.answerGrants == true ? welcome.answerWindow : nil
    indexMethods()
    stream.onInput = { [weak self] bytes in self?.received(UnsafeRawBufferPointer(bytes)) ?? bytes.count }
    stream.onEnd = { [weak self] fault in
      self?.end(Refusal(.disconnected, fault.map { "the bus: \($0)" } ?? "the supervisor closed the bus"))
    }
  }

  // MARK: Sending

  /// A number for the next frame that another frame will refer to.
  func nextId() -> UInt64 {
    lastId += 1
    return lastId
  }

  /// Sends READY: this worker takes work now.
  public func sendReady() { sendFree(FrameHeader(type: .ready)) }
  /// Sends STATUS: in one line, what this worker is doing.
  public func sendStatus(_ status: StatusReport) { sendFree(FrameHeader(type: .status), JSONPayload.encode(status)) }
  /// Sends EXTEND: this worker needs `milliseconds` more to start or to stop.
  public func sendExtend(milliseconds: UInt32) { sendFree(FrameHeader(type: .extend, ttlMilliseconds: milliseconds)) }

  /// Sends GOODBYE and closes.
  public func leave() {
    guard ending == nil else { return }
    sendFree(FrameHeader(type: .goodbye))
    stream.flush()
    onEnd = nil
    end(Refusal(.disconnected, "this side has left the bus"))
  }

  // MARK: Names and numbers

  private func indexMethods() {
    methodNames = [:]
    for (name, method) in registry.methods { methodNames[method.number] = name }
    for (name, number) in registry.topics { methodNames[number] = name }
  }

  /// The name of a method or topic; its number as text when the registry has none.
  public func name(of method: UInt16) -> String { methodNames[method] ?? "\(method)" }

  func number(ofMethod name: String) throws(Refusal) -> UInt16 {
    if let method = registry.methods[name] { return method.number }
    throw Refusal(
      .unknownMethod, "there is no method '\(name)'\(NearestName.hint(name, among: registry.methods.keys))",
      outcome: .notStarted)
  }

  func number(ofTopic name: String) throws(Refusal) -> UInt16 {
    if let number = registry.topics[name] { return number }
    throw Refusal(
      .unknownMethod, "there is no topic '\(name)'\(NearestName.hint(name, among: registry.topics.keys))",
      outcome: .notStarted)
  }

  /// The endpoint of the worker with this name.
  public func endpoint(ofWorker name: String) throws(Refusal) -> Endpoint {
    if let member = registry.members.first(where: { $0.name == name }) { return Endpoint(rawValue: member.endpoint) }
    throw Refusal(
      .gone, "there is no worker '\(name)' on the bus\(NearestName.hint(name, among: registry.members.map(\.name)))",
      outcome: .notStarted)
  }

  // MARK: Requests

  func register(_ answer: BusAnswer) { answers[answer.id] = answer }
  func forget(_ answer: BusAnswer) { answers[answer.id] = nil }

  /// Waits for the hub's ACK or NACK of an event; nil = acknowledged.
  func acknowledgement(of id: UInt64) async -> Refusal? {
    if let ending { return ending }
    return await withCheckedContinuation { acknowledgements[id] = $0 }
  }

  func finished(_ request: BusRequest) {
    serving[RequestKey(caller: request.caller, id: request.id)] = nil
  }

  /// The number of requests in flight in this worker.
  public var servingCount: Int { serving.count }

  /// A received frame was consumed; a CREDIT returns its credit together with that of others, once it is worth a frame.
  func didConsume(byteCount: Int) {
    ledger.didConsume(byteCount: byteCount)
    if ending == nil, let credit = ledger.announcement() { sendFree(FrameHeader(type: .credit), credit.payload) }
  }

  // MARK: Receiving

  private func received(_ bytes: UnsafeRawBufferPointer) -> Int {
    var used = 0
    while ending == nil {
      do throws(FrameViolation) {
        guard
          case .frame(let header, let payload) = try reader.next(in: UnsafeRawBufferPointer(rebasing: bytes[used...]))
        else { break }
        used += header.frameByteCount
        dispatch(header, payload)
      } catch {
        // The hub is part of Roost; if its frames cannot be understood, nothing on this connection can be trusted.
        sendFree(FrameHeader(type: .fatal), JSONPayload.encode(Refusal(error.code, error.message)))
        end(Refusal(error.code, "the hub sent what RBP/1 forbids: \(error.message)"))
      }
    }
    return ending == nil ? used : bytes.count
  }

  private func dispatch(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) {
    switch header.type {
    case .request: receivedRequest(header, payload)
    case .response, .error, .progress: receivedAnswer(header, payload)
    case .cancel: serving[RequestKey(caller: header.source, id: header.re)]?.receivedCancel()
    case .event: receivedEvent(header, payload)
    case .ack:
      if let waiter = acknowledgements.removeValue(forKey: header.re) {
        waiter.resume(returning: nil)
      } else {
        answers[header.re]?.receivedAcceptance()
      }
    case .nack:
      acknowledgements.removeValue(forKey: header.re)?.resume(returning: refusal(in: payload))
    case .credit: if let credit = Credit(payload) { receivedCredit(header, credit) }
    case .gap:
      didConsume(byteCount: payload.count)
      if let gap = try? JSONPayload.decode(Gap.self, from: payload) {  // Sent by the hub; an unreadable one is ignored.
        onGap?(name(of: header.method), gap.dropped)
      }
    case .ping: sendFree(FrameHeader(type: .pong, re: header.id))
    case .registry: receivedRegistry(payload)
    case .drain: onDrain?(header.ttlMilliseconds)
    case .config:
      if let value = try? JSONPayload.decode(JSONValue.self, from: payload) { onConfiguration?(value) }  // As above.
    case .fatal: end(refusal(in: payload))
    case .goodbye: end(Refusal(.disconnected, "the supervisor said goodbye"))
    case .pong, .hello, .welcome, .ready, .status, .extend, .subscribe, .unsubscribe: break
    }
  }

  private func receivedCredit(_ header: FrameHeader, _ credit: Credit) {
    guard header.re == 0 else {
      serving[RequestKey(caller: header.source, id: header.re)]?.receivedCredit(credit, attempt: header.attempt)
      return
    }
    ledger.receivedGrant(credit)
    moveLines()
  }

  private func receivedRequest(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) {
    let request = BusRequest(header, Array(payload), method: name(of: header.method), on: self)
    serving[RequestKey(caller: header.source, id: header.id)] = request
    guard let onRequest else {
      request.refuse(Refusal(.unknownMethod, "this worker serves nothing", outcome: .notStarted))
      return
    }
    // Requests that the handler makes, in this task or in tasks that it starts, wait in the line for nested requests.
    BusTrace.$served.withValue(request) { onRequest(request) }
  }

  private func receivedEvent(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) {
    let event = BusEvent(header, Array(payload), on: self)
    guard let onEvent else {
      if event.needsAck { event.reject(retryAfterMilliseconds: 0) } else { didConsume(byteCount: payload.count) }
      return
    }
    onEvent(event)
    if !event.needsAck { didConsume(byteCount: payload.count) }
  }

  private func receivedAnswer(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) {
    let spends = header.type.spendsCredit(flags: header.flags)
    guard let answer = answers[header.re] else {
      if spends, header.type == .progress || partWindow == nil { didConsume(byteCount: payload.count) }
      return
    }
    switch header.type {
    case .response: answer.receivedPart(header, Array(payload))
    case .error: answer.receivedRefusal(refusal(in: payload))
    default:
      didConsume(byteCount: payload.count)
      answer.receivedProgress(Array(payload))
    }
    if header.type.isTerminal(flags: header.flags) { answers[header.re] = nil }
  }

  private func receivedRegistry(_ payload: UnsafeRawBufferPointer) {
    guard let registry = try? JSONPayload.decode(Registry.self, from: payload) else { return }  // Unreadable: ignored.
    self.registry = registry
    indexMethods()
    onRegistry?(registry)
  }

  private func refusal(in payload: UnsafeRawBufferPointer) -> Refusal {
    do throws(Refusal) { return try JSONPayload.decode(Refusal.self, from: payload) } catch {
      return Refusal(.failed, "refused without a readable reason", outcome: .unknown)
    }
  }

  // MARK: The end

  private func end(_ refusal: Refusal) {
    guard ending == nil else { return }
    var unknown = refusal
    unknown.outcome = .unknown
    unknown.reason = .connectionEnded
    ending = unknown
    stream.flushAndClose()
    for answer in answers.values { answer.receivedRefusal(unknown) }
    answers = [:]
    for waiter in acknowledgements.values { waiter.resume(returning: unknown) }
    acknowledgements = [:]
    for request in serving.values { request.receivedCancel() }
    serving = [:]
    lines.common.dismiss()
    lines.nested.dismiss()
    let callback = onEnd
    onEnd = nil
    callback?(refusal)
  }
}
