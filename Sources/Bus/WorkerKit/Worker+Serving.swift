public import Bus
public import Contracts
internal import EventLoop
public import Frames
public import Nostr

// How a worker serves the methods of its role: each by its constant of Contracts, so that the handler receives the
// method's arguments and returns its answer. A handler that returns nil answers later, with
// `BusRequest.respond(to:_:)`.

extension Worker {
  /// Serves a method with payloads as bytes: for a worker that reads all its requests in one place before it handles
  /// them.
  public func serve(
    _ method: MethodDeclaration,
    _ handler: @escaping @EventLoopActor (BusRequest) async throws(Refusal) -> BusPayload?
  ) {
    handle(method.name, handler)
  }

  /// Serves a method with one answer.
  public func serve<Arguments, Answer>(
    _ method: Method<Arguments, Answer>,
    _ handler: @escaping @EventLoopActor (BusRequest, Arguments) async throws(Refusal) -> Answer?
  ) {
    handle(method.name) { (request) throws(Refusal) in
      try await handler(request, try request.payload.read(of: method.name)).map { BusPayload($0) }
    }
  }

  /// Serves a method with filters, which are read directly, without a JSON value in between.
  public func serve<Arguments: FilterArguments, Answer>(
    _ method: Method<Arguments, Answer>,
    _ handler: @escaping @EventLoopActor (BusRequest, Arguments, [Filter]) async throws(Refusal) -> Answer?
  ) {
    handle(method.name) { (request) throws(Refusal) in
      let (arguments, filters) = try request.argumentsAndFilters(as: Arguments.self)
      return try await handler(request, arguments, filters).map { BusPayload($0) }
    }
  }

  /// Serves a method that answers in parts, which the handler sends.
  public func serve<Arguments, Part, Answer>(
    _ stream: Stream<Arguments, Part, Answer>,
    _ handler: @escaping @EventLoopActor (BusRequest, Arguments) async throws(Refusal) -> Answer?
  ) {
    handle(stream.name) { (request) throws(Refusal) in
      try await handler(request, try request.payload.read(of: stream.name)).map { BusPayload($0) }
    }
  }

  /// Serves a stream with filters.
  public func serve<Arguments: FilterArguments, Part, Answer>(
    _ stream: Stream<Arguments, Part, Answer>,
    _ handler: @escaping @EventLoopActor (BusRequest, Arguments, [Filter]) async throws(Refusal) -> Answer?
  ) {
    handle(stream.name) { (request) throws(Refusal) in
      let (arguments, filters) = try request.argumentsAndFilters(as: Arguments.self)
      return try await handler(request, arguments, filters).map { BusPayload($0) }
    }
  }

  /// Serves a stream with one filter.
  public func serve<Arguments: OneFilterArguments, Part, Answer>(
    _ stream: Stream<Arguments, Part, Answer>,
    _ handler: @escaping @EventLoopActor (BusRequest, Arguments, Filter) async throws(Refusal) -> Answer?
  ) {
    handle(stream.name) { (request) throws(Refusal) in
      let (arguments, filter) = try request.argumentsAndFilter(as: Arguments.self)
      return try await handler(request, arguments, filter).map { BusPayload($0) }
    }
  }
}

extension BusRequest {
  /// Answers a method whose handler has returned nil.
  public func respond<Arguments, Answer>(to method: Method<Arguments, Answer>, _ answer: Answer) {
    respond(BusPayload(answer))
  }

  /// Ends a stream whose handler has returned nil.
  public func respond<Arguments, Part, Answer>(to stream: Stream<Arguments, Part, Answer>, _ answer: Answer) {
    respond(BusPayload(answer))
  }

  /// Sends a part of a stream.
  public func send<Arguments, Part, Answer>(
    _ part: Part, of stream: Stream<Arguments, Part, Answer>
  ) async throws(Refusal) {
    let payload = BusPayload(part)
    if !sendNow(part: payload) { try await send(part: payload) }
  }
}
