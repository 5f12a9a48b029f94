internal import Bus
public import Contracts
public import EventLoop
public import Frames

// The typed face of RoostClient+Requests.swift: a method is a constant of Contracts, which says what it takes and what
// it answers.

extension RoostClient {
  /// Asks for work and waits for the whole answer.
  ///
  /// - Parameters:
  ///   - method: the method, `StoreMethod.count`.
  ///   - arguments: its arguments.
  ///   - options: which worker to ask, for how long, and whether the work may be done twice.
  /// - Throws: the refusal, with `outcome` saying whether the work was begun.
  public func request<Arguments, Answer>(
    _ method: Method<Arguments, Answer>, _ arguments: Arguments, options: RequestOptions = RequestOptions()
  ) async throws(Refusal) -> Answer {
    try await request(method.name, BusPayload(arguments), options: options).read(of: method.name)
  }

  /// Asks for work and hands back its answer as it comes. Parts that are not taken hold back the worker.
  public func stream<Arguments, Part, Answer>(
    _ stream: Stream<Arguments, Part, Answer>, _ arguments: Arguments, options: RequestOptions = RequestOptions()
  ) async throws(Refusal) -> RoostStream<Part, Answer> {
    RoostStream(try await self.stream(stream.name, BusPayload(arguments), options: options))
  }
}

/// The answer to a `Stream`, part by part, across lost connections as ``RoostAnswer`` says.
@EventLoopActor
public struct RoostStream<Part: Payload, Answer: Payload> {
  /// What has come.
  public enum Item: Sendable {
    /// A part.
    case part(Part)
    /// The terminal answer; nothing comes after it.
    case end(Answer)
  }

  /// The answer as it travels: to cancel it, or to hear how it moves.
  public let answer: RoostAnswer

  init(_ answer: RoostAnswer) { self.answer = answer }

  /// What comes next; nil after the end, which is also nil where it has no payload.
  ///
  /// - Throws: the refusal that ended the request, or `bad-payload` for what cannot be read.
  public func next() async throws(Refusal) -> Item? {
    guard let part = try await answer.nextPart() else { return nil }
    return part.isLast
      ? .end(try part.payload.read(of: answer.method)) : .part(try part.payload.read(of: answer.method))
  }

  /// The next part; nil after the last, whatever the terminal answer says.
  public func nextPart() async throws(Refusal) -> Part? {
    if case .part(let part)? = try await next() { part } else { nil }
  }

  /// All parts.
  public func collect() async throws(Refusal) -> [Part] {
    var parts: [Part] = []
    while let part = try await nextPart() { parts.append(part) }
    return parts
  }
}
