public import Contracts
public import EventLoop
public import Frames

// The typed face of BusConnection+Requests.swift: a method is a constant of Contracts, which says what it takes and
// what it answers.

extension BusPayload {
  /// A value in its form.
  public init(_ value: some Payload) {
    let written = value.written
    self.init(written.bytes, isRaw: written.isRaw)
  }

  /// Reads a value of a method.
  public func read<Value: Payload>(as type: Value.Type = Value.self, of method: String) throws(Refusal) -> Value {
    try Value.read(bytes, isRaw: isRaw, of: method)
  }
}

/// The answer of a `Stream`, part by part.
@EventLoopActor
public struct StreamAnswer<Part: Payload, Answer: Payload> {
  /// What has come.
  public enum Item: Sendable {
    /// A part.
    case part(Part)
    /// The terminal answer; nothing comes after it.
    case end(Answer)
  }

  /// The answer as it travels: to cancel it, or to hear how it moves.
  public let answer: BusAnswer
  private let method: String

  init(_ answer: BusAnswer, _ method: String) { (self.answer, self.method) = (answer, method) }

  /// What comes next; nil after the end, which is also nil where it has no payload.
  ///
  /// - Throws: the refusal that ended the request, or `bad-payload` for what cannot be read.
  public func next() async throws(Refusal) -> Item? {
    guard let part = try await answer.nextPart() else { return nil }
    return part.isLast
      ? .end(try part.payload.read(of: method)) : .part(try part.payload.read(of: method))
  }

  /// The next part; nil after the last, whatever the terminal answer says.
  public func nextPart() async throws(Refusal) -> Part? {
    if case .part(let part)? = try await next() { part } else { nil }
  }

  /// Gives the request up.
  public func cancel() { answer.cancel() }

  /// Gives the request up and takes nothing more of it.
  public func abandon(_ refusal: Refusal) { answer.abandon(refusal) }
}

extension BusEvent {
  /// What a topic published; nil when this is an event of another one.
  ///
  /// - Throws: `bad-payload` for what cannot be read.
  public func value<Value>(of topic: Topic<Value>) throws(Refusal) -> Value? {
    name == topic.name ? try payload.read(of: topic.name) : nil
  }
}

extension BusConnection {
  /// Asks for work and waits for the whole answer.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - worker: the worker to ask, by name; else the hub picks one that serves the method.
  ///   - arguments: its arguments.
  ///   - ttlMilliseconds: how long the answer is of use; 0 = the hub's default.
  ///   - atMostOnce: never run it a second time after a worker's death.
  public func request<Arguments, Answer>(
    _ method: Method<Arguments, Answer>, of worker: String? = nil, _ arguments: Arguments, ttlMilliseconds: UInt32 = 0,
    atMostOnce: Bool = false
  ) async throws(Refusal) -> Answer {
    try await request(
      method, of: worker, encoded: BusPayload(arguments), ttlMilliseconds: ttlMilliseconds, atMostOnce: atMostOnce)
  }

  /// The same with arguments that are encoded already.
  public func request<Arguments, Answer>(
    _ method: Method<Arguments, Answer>, of worker: String? = nil, encoded arguments: BusPayload,
    ttlMilliseconds: UInt32 = 0, atMostOnce: Bool = false
  ) async throws(Refusal) -> Answer {
    try await request(
      method.name, of: worker, arguments, ttlMilliseconds: ttlMilliseconds, atMostOnce: atMostOnce
    ).read(of: method.name)
  }

  /// Asks for work and hands back the answer as it comes.
  public func ask<Arguments, Part, Answer>(
    _ stream: Stream<Arguments, Part, Answer>, of worker: String? = nil, _ arguments: Arguments,
    ttlMilliseconds: UInt32 = 0
  ) async throws(Refusal) -> StreamAnswer<Part, Answer> {
    try await ask(stream, of: worker, encoded: BusPayload(arguments), ttlMilliseconds: ttlMilliseconds)
  }

  /// The same with arguments that are encoded already.
  public func ask<Arguments, Part, Answer>(
    _ stream: Stream<Arguments, Part, Answer>, of worker: String? = nil, encoded arguments: BusPayload,
    ttlMilliseconds: UInt32 = 0
  ) async throws(Refusal) -> StreamAnswer<Part, Answer> {
    StreamAnswer(
      try await ask(stream.name, of: worker, arguments, ttlMilliseconds: ttlMilliseconds), stream.name)
  }

  /// Publishes to a topic. With `needsAck` it returns when every worker subscribed has acknowledged.
  public func publish<Value>(_ topic: Topic<Value>, _ value: Value, needsAck: Bool = false) async throws(Refusal) {
    try await publish(topic.name, BusPayload(value), needsAck: needsAck)
  }

  /// Asks for a topic's events.
  public func subscribe<Value>(_ topic: Topic<Value>) async throws(Refusal) { try await subscribe(topic.name) }

  /// Ends a subscription.
  public func unsubscribe<Value>(_ topic: Topic<Value>) async throws(Refusal) { try await unsubscribe(topic.name) }
}
