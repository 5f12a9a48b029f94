internal import Bus
public import Contracts
public import EventLoop
public import Frames

// The typed side of RoostClient+Requests.swift: a method is a constant of Contracts, which gives the types of its
// arguments and its answer.

extension RoostClient {
  /// Sends a request and waits for the whole answer.
  ///
  /// - Parameters:
  ///   - method: the method, `StoreMethod.count`.
  ///   - arguments: its arguments.
  ///   - options: which worker, the time limit, and whether the request may be repeated.
  /// - Throws: the refusal; its `outcome` says whether the work was begun.
  public func request<Arguments, Answer>(
    _ method: Method<Arguments, Answer>, _ arguments: Arguments, options: RequestOptions = RequestOptions()
  ) async throws(Refusal) -> Answer {
    try await request(method.name, BusPayload(arguments), options: options).read(of: method.name)
  }

  /// Sends a request and returns its answer as it arrives. The worker waits while parts are not read.
  public func stream<Arguments, Part, Answer>(
    _ stream: Stream<Arguments, Part, Answer>, _ arguments: Arguments, options: RequestOptions = RequestOptions()
  ) async throws(Refusal) -> RoostStream<Part, Answer> {
    RoostStream(try await self.stream(stream.name, BusPayload(arguments), options: options))
  }
}

/// The answer to a `Stream`, part by part, across lost connections as ``RoostAnswer`` says.
@EventLoopActor
public struct RoostStream<Part: Payload, Answer: Payload> {
  /// One item of the answer.
  public enum Item: Sendable {
    /// A part.
    case part(Part)
    /// The terminal answer; nothing comes after it.
    case end(Answer)
  }

  /// The answer as payloads: to cancel it, or to watch its progress.
  public let answer: RoostAnswer

  init(_ answer: RoostAnswer) { self.answer = answer }

  /// The next item; nil after the end, and also when a terminal answer without a payload ends it.
  ///
  /// - Throws: the refusal that ended the request, or `bad-payload` for an item that cannot be read.
  public func next() async throws(Refusal) -> Item? {
    guard let part = try await answer.nextPart() else { return nil }
    return part.isLast
      ? .end(try part.payload.read(of: answer.method)) : .part(try part.payload.read(of: answer.method))
  }

  /// The next part; nil after the last one, whatever the terminal answer holds.
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
