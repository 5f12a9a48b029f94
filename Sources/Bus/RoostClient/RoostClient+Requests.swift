public import Bus
internal import Clocks
internal import EventLoop
public import Frames

extension RoostClient {
  /// Asks for work and waits for the whole answer; parts are joined.
  ///
  /// - Parameters:
  ///   - method: its name in the registry, `relay.list`.
  ///   - payload: the arguments; at most the connection's frame limit less 44 bytes.
  ///   - options: whom to ask, for how long, and whether twice.
  /// - Throws: the refusal, with `outcome` saying whether the work was begun.
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

  /// Asks for work, its arguments given as a value that is written as JSON.
  public func request(
    _ method: String, json: some Encodable, options: RequestOptions = RequestOptions()
  ) async throws(Refusal) -> BusPayload {
    try await request(method, BusPayload(json: json), options: options)
  }

  /// Asks for work and reads the answer's JSON into a type.
  public func request<Value: Decodable>(
    _ method: String, _ payload: BusPayload = .empty, as type: Value.Type, options: RequestOptions = RequestOptions()
  ) async throws(Refusal) -> Value {
    try await request(method, payload, options: options).decoded(as: type)
  }

  /// Asks for work and hands back its answer as it comes. Parts that are not taken hold back whoever produces them.
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

  /// The same, with the arguments given as a value that is written as JSON.
  public func stream(
    _ method: String, json: some Encodable, options: RequestOptions = RequestOptions()
  ) async throws(Refusal) -> RoostAnswer {
    try await stream(method, BusPayload(json: json), options: options)
  }
}
