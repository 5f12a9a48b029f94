public import Contracts
public import EventLoop
public import Frames

// The typed side of BusConnection+Requests.swift: a method is a constant of Contracts, which gives the types of its
// arguments and its answer.

extension BusPayload {
  /// A value in the form of its type.
  public init(_ value: some Payload) {
    let written = value.written
    self.init(written.bytes, isRaw: written.isRaw)
  }

  /// Reads a payload of a method.
  public func read<Value: Payload>(as type: Value.Type = Value.self, of method: String) throws(Refusal) -> Value {
    try Value.read(bytes, isRaw: isRaw, of: method)
  }
}

/// The answer of a `Stream`, part by part.
@EventLoopActor
public struct StreamAnswer<Part: Payload, Answer: Payload> {
  /// One item of the answer.
  public enum Item: Sendable {
    /// A part.
    case part(Part)
    /// The terminal answer; nothing comes after it.
    case end(Answer)
  }

  /// The answer as payloads: to cancel it, or to watch its progress.
  public let answer: BusAnswer
  private let method: String

  init(_ answer: BusAnswer, _ method: String) { (self.answer, self.method) = (answer, method) }

  /// The next item; nil after the end, and also when a terminal answer without a payload ends it.
  ///
  /// - Throws: the refusal that ended the request, or `bad-payload` for an item that cannot be read.
  public func next() async throws(Refusal) -> Item? {
    guard let part = try await answer.nextPart() else { return nil }
    return part.isLast
      ? .end(try part.payload.read(of: method)) : .part(try part.payload.read(of: method))
  }

  /// The next part; nil after the last one, whatever the terminal answer holds.
  public func nextPart() async throws(Refusal) -> Part? {
    if case .part(let part)? = try await next() { part } else { nil }
  }

  /// Cancels the request.
  public func cancel() { answer.cancel() }

  /// Cancels the request and drops its answer.
  public func abandon(_ refusal: Refusal) { answer.abandon(refusal) }
}

extension BusEvent {
  /// The value that a topic published; nil when this is an event of another topic.
  ///
  /// - Throws: `bad-payload` for a value that cannot be read.
  public func value<Value>(of topic: Topic<Value>) throws(Refusal) -> Value? {
    name == topic.name ? try payload.read(of: topic.name) : nil
  }
}

extension BusConnection {
  /// Sends a request and waits for the whole answer.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - worker: the name of the worker; otherwise the hub picks one that serves the method.
  ///   - arguments: its arguments.
  ///   - ttlMilliseconds: how long the answer is useful; 0 = the hub's default.
  ///   - atMostOnce: the hub never delivers it a second time after a worker's death.
  public func request<Arguments, Answer>(
    _ method: Method<Arguments, Answer>, of worker: String? = nil, _ arguments: Arguments, ttlMilliseconds: UInt32 = 0,
    atMostOnce: Bool = false
  ) async throws(Refusal) -> Answer {
    try await request(
      method, of: worker, encoded: BusPayload(arguments), ttlMilliseconds: ttlMilliseconds, atMostOnce: atMostOnce)
  }

  /// The same with encoded arguments.
  public func request<Arguments, Answer>(
    _ method: Method<Arguments, Answer>, of worker: String? = nil, encoded arguments: BusPayload,
    ttlMilliseconds: UInt32 = 0, atMostOnce: Bool = false
  ) async throws(Refusal) -> Answer {
    try await request(
      method.name, of: worker, arguments, ttlMilliseconds: ttlMilliseconds, atMostOnce: atMostOnce
    ).read(of: method.name)
  }

  /// Sends a request and returns the answer as it arrives.
  public func ask<Arguments, Part, Answer>(
    _ stream: Stream<Arguments, Part, Answer>, of worker: String? = nil, _ arguments: Arguments,
    ttlMilliseconds: UInt32 = 0
  ) async throws(Refusal) -> StreamAnswer<Part, Answer> {
    try await ask(stream, of: worker, encoded: BusPayload(arguments), ttlMilliseconds: ttlMilliseconds)
  }

  /// The same with encoded arguments.
  public func ask<Arguments, Part, Answer>(
    _ stream: Stream<Arguments, Part, Answer>, of worker: String? = nil, encoded arguments: BusPayload,
    ttlMilliseconds: UInt32 = 0
  ) async throws(Refusal) -> StreamAnswer<Part, Answer> {
    StreamAnswer(
      try await ask(stream.name, of: worker, arguments, ttlMilliseconds: ttlMilliseconds), stream.name)
  }

  /// Publishes to a topic. With `needsAck` it returns when every subscribed worker has acknowledged.
  public func publish<Value>(_ topic: Topic<Value>, _ value: Value, needsAck: Bool = false) async throws(Refusal) {
    try await publish(topic.name, BusPayload(value), needsAck: needsAck)
  }

  /// Subscribes to a topic.
  public func subscribe<Value>(_ topic: Topic<Value>) async throws(Refusal) { try await subscribe(topic.name) }

  /// Ends a subscription.
  public func unsubscribe<Value>(_ topic: Topic<Value>) async throws(Refusal) { try await unsubscribe(topic.name) }
}
