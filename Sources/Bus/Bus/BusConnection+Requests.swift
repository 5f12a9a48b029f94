public import Frames

extension BusConnection {
  /// Sends a request and returns the answer as it arrives.
  ///
  /// - Parameters:
  ///   - method: its name in the registry.
  ///   - worker: the name of the worker; otherwise the hub picks one that serves the method.
  ///   - payload: the arguments, in the form that the method requires.
  ///   - ttlMilliseconds: how long the answer is useful; 0 = the hub's default.
  ///   - atMostOnce: the hub never delivers it a second time after a worker's death.
  ///   - trace: what the request belongs to; nil: what the running task belongs to (``BusTrace``).
  public func ask(
    _ method: String, of worker: String? = nil, _ payload: BusPayload = .empty, ttlMilliseconds: UInt32 = 0,
    atMostOnce: Bool = false, trace: RequestTrace? = nil
  ) async throws(Refusal) -> BusAnswer {
    let number = try number(ofMethod: method)
    let destination = try worker.map { name throws(Refusal) in try endpoint(ofWorker: name) } ?? .hub
    var flags: FrameFlags = payload.isRaw ? .raw : []
    if atMostOnce { flags.insert(.atMostOnce) }
    try await awaitTurn(byteCount: payload.bytes.count, in: BusRequest.beginNested() ? .nested : .common)
    let answer = BusAnswer(id: nextId(), destination: destination, connection: self)
    register(answer)
    sendFree(
      FrameHeader(
        type: .request, flags: flags, destination: destination, id: answer.id, ttlMilliseconds: ttlMilliseconds,
        method: number, trace: (trace ?? BusTrace.current)?.rawValue ?? 0),
      payload.bytes)
    return answer
  }

  /// Sends a request and waits for the whole answer; parts are joined.
  public func request(
    _ method: String, of worker: String? = nil, _ payload: BusPayload = .empty, ttlMilliseconds: UInt32 = 0,
    atMostOnce: Bool = false
  ) async throws(Refusal) -> BusPayload {
    let answer = try await ask(
      method, of: worker, payload, ttlMilliseconds: ttlMilliseconds, atMostOnce: atMostOnce)
    var whole = BusPayload.empty
    while let part = try await answer.next() {
      whole.bytes += part.bytes
      whole.isRaw = part.isRaw
    }
    return whole
  }

  /// Publishes an event of a topic that this role may publish.
  ///
  /// With `needsAck` it returns when every subscribed worker has acknowledged; otherwise when the frame is sent.
  public func publish(_ topic: String, _ payload: BusPayload, needsAck: Bool = false) async throws(Refusal) {
    try await sendEvent(number(ofTopic: topic), to: .hub, payload, needsAck: needsAck)
  }

  /// Sends an event to a method of one worker, or of any worker that serves it.
  public func notify(
    _ method: String, of worker: String? = nil, _ payload: BusPayload, needsAck: Bool = false
  ) async throws(Refusal) {
    let destination = try worker.map { name throws(Refusal) in try endpoint(ofWorker: name) } ?? .hub
    try await sendEvent(number(ofMethod: method), to: destination, payload, needsAck: needsAck)
  }

  private func sendEvent(
    _ number: UInt16, to destination: Endpoint, _ payload: BusPayload, needsAck: Bool
  ) async throws(Refusal) {
    var flags: FrameFlags = payload.isRaw ? .raw : []
    if needsAck { flags.insert(.needsAck) }
    try await awaitTurn(byteCount: payload.bytes.count)
    let id = needsAck ? nextId() : 0
    sendFree(
      FrameHeader(
        type: .event, flags: flags, destination: destination, id: id, method: number,
        trace: BusTrace.current?.rawValue ?? 0),
      payload.bytes)
    if needsAck, let refusal = await acknowledgement(of: id) { throw refusal }
  }

  /// Subscribes to a topic; its events then go to ``onEvent``.
  public func subscribe(_ topic: String) async throws(Refusal) {
    try await changeSubscription(.subscribe, topic)
  }

  /// Ends a subscription.
  public func unsubscribe(_ topic: String) async throws(Refusal) {
    try await changeSubscription(.unsubscribe, topic)
  }

  private func changeSubscription(_ type: FrameType, _ topic: String) async throws(Refusal) {
    let number = try number(ofTopic: topic)
    try await awaitTurn(byteCount: 0)
    let answer = BusAnswer(id: nextId(), destination: .hub, connection: self)
    register(answer)
    sendFree(FrameHeader(type: type, id: answer.id, method: number))
    while try await answer.next() != nil {}
  }
}
