public import Frames

extension BusConnection {
  /// Asks for work and hands back the answer as it comes.
  ///
  /// - Parameters:
  ///   - method: its name in the registry.
  ///   - worker: the worker to ask, by name; else the hub picks one that serves the method.
  ///   - payload: the arguments, in the form the method demands.
  ///   - ttlMilliseconds: how long the answer is of use; 0 = the hub's default.
  ///   - atMostOnce: never run it a second time after a worker's death.
  public func ask(
    _ method: String, of worker: String? = nil, _ payload: BusPayload = .empty, ttlMilliseconds: UInt32 = 0,
    atMostOnce: Bool = false
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
        method: number),
      payload.bytes)
    return answer
  }

  /// Asks for work and waits for the whole answer; parts are joined.
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

  /// Publishes an event of a topic this role may publish.
  ///
  /// With `needsAck` it returns when every worker subscribed has acknowledged; else when it is on its way.
  public func publish(_ topic: String, _ payload: BusPayload, needsAck: Bool = false) async throws(Refusal) {
    try await sendEvent(number(ofTopic: topic), to: .hub, payload, needsAck: needsAck)
  }

  /// Sends an event to a method of one worker, or of any that serves it.
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
      FrameHeader(type: .event, flags: flags, destination: destination, id: id, method: number), payload.bytes)
    if needsAck, let refusal = await acknowledgement(of: id) { throw refusal }
  }

  /// Asks for a topic's events, which then come to ``onEvent``.
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
