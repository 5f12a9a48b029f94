public import Bus
internal import Clocks
public import Contracts
internal import EventLoop
public import Frames

// Requests, in two forms. A method is a constant of Contracts, which gives the types of its arguments and its answer;
// or it is a name, and its payloads are bytes.

extension RoostClient {
  // MARK: A method of Contracts

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

  // MARK: A method by its name

  /// Sends a request and waits for the whole answer; parts are joined.
  ///
  /// - Parameters:
  ///   - method: its name in the registry, `relay.list`.
  ///   - payload: the arguments; at most the connection's frame limit minus 44 bytes.
  ///   - options: which worker, the time limit, and whether the request may be repeated.
  /// - Throws: the refusal; its `outcome` says whether the work was begun.
  public func request(
    _ method: String, _ payload: BusPayload = .empty, options: RequestOptions = RequestOptions()
  ) async throws(Refusal) -> BusPayload {
    let answer = try await stream(method, payload, options: options)
    var whole = BusPayload.empty
    while let part = try await answer.next() {
      whole.bytes += part.bytes
      whole.isRaw = part.isRaw
    }
    return whole
  }

  /// Sends a request with arguments that are written as JSON.
  public func request(
    _ method: String, json: some Encodable, options: RequestOptions = RequestOptions()
  ) async throws(Refusal) -> BusPayload {
    try await request(method, BusPayload(json: json), options: options)
  }

  /// Sends a request and reads the answer's JSON into a type.
  public func request<Value: Decodable>(
    _ method: String, _ payload: BusPayload = .empty, as type: Value.Type, options: RequestOptions = RequestOptions()
  ) async throws(Refusal) -> Value {
    try await request(method, payload, options: options).decoded(as: type)
  }

  /// Sends a request and returns its answer as it arrives. The producer waits while parts are not read.
  public func stream(
    _ method: String, _ payload: BusPayload = .empty, options: RequestOptions = RequestOptions()
  ) async throws(Refusal) -> RoostAnswer {
    guard requestCount < settings.requestMaximum else {
      throw Refusal(.full, "\(requestCount) requests of this client are under way already", outcome: .notStarted)
    }
    let answer = RoostAnswer(method: method, payload: payload, options: options, client: self)
    try await answer.ask()
    return answer
  }

  /// The same with arguments that are written as JSON.
  public func stream(
    _ method: String, json: some Encodable, options: RequestOptions = RequestOptions()
  ) async throws(Refusal) -> RoostAnswer {
    try await stream(method, BusPayload(json: json), options: options)
  }
}
