internal import Bus
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Nostr
internal import RoostClient

/// One call of a tool: its arguments, and what tools do with them.
@EventLoopActor
final class MCPCall {
  let client: RoostClient
  let arguments: JSONValue
  let grants: Set<MCPGrant>
  /// Says how many items there are so far; nil: the caller does not want to hear it.
  let report: (@EventLoopActor (Int) async -> Void)?

  /// How long a worker may take, relays included.
  nonisolated static let timeoutMilliseconds: UInt32 = 60_000
  /// The bytes of an answer's items, above which no more are added.
  nonisolated static let byteCountMaximum = 256 << 10

  init(
    _ client: RoostClient, _ arguments: JSONValue, _ grants: Set<MCPGrant>,
    report: (@EventLoopActor (Int) async -> Void)?
  ) {
    self.client = client
    self.arguments = arguments
    self.grants = grants
    self.report = report
  }

  /// The answer of a method that answers in one piece.
  func request(_ method: String) async throws(Refusal) -> [UInt8] {
    try await client.request(method, BusPayload(json: arguments), options: Self.options).bytes
  }

  /// The parts of a method's answer as a list, up to ``byteCountMaximum``.
  func collect(_ method: String) async throws(Refusal) -> [UInt8] {
    try await collect(method) { _ in false }
  }

  /// The same of a method that continues after what is stored, up to that point.
  func collectStored(_ method: String) async throws(Refusal) -> [UInt8] {
    try checkKinds()
    return try await collect(method) { $0["isStoredEnd"] != nil }
  }

  private func collect(
    _ method: String, until isEnd: @EventLoopActor (JSONValue) -> Bool
  ) async throws(Refusal) -> [UInt8] {
    let answer = try await client.stream(method, BusPayload(json: arguments), options: Self.options)
    defer { answer.cancel() }
    var page = ItemPage()
    while let part = try await answer.nextPart() {
      guard !part.isLast else { break }
      let value = try part.payload.decoded(as: JSONValue.self)
      if isEnd(value) { break }
      if !grants.contains(.private), value["event"].map(MCPSearch.isPrivate) ?? false { continue }
      guard page.add(part.payload.bytes) else { break }
      await report?(page.items.count)
    }
    return JSONPayload.encode(page)
  }

  /// Refuses private kinds among `kinds`, unless they are granted.
  func checkKinds() throws(Refusal) {
    guard !grants.contains(.private) else { return }
    var filters = [arguments]
    if case .array(let given)? = arguments["filters"] { filters += given }
    for filter in filters {
      guard case .array(let kinds)? = filter["kinds"] else { continue }
      for case .integer(let kind) in kinds where MCPSearch.privateKinds.contains(kind) {
        throw Refusal(
          .denied, "kind \(kind) is private: it needs 'roost mcp --allow private'", outcome: .notStarted)
      }
    }
  }

  // MARK: Single tools

  /// A list of an account, without its private entries unless these are granted.
  func list() async throws(Refusal) -> [UInt8] {
    let bytes = try await request(PeopleMethod.list.name)
    guard !grants.contains(.private) else { return bytes }
    guard case .object(var list) = try JSONPayload.decode(JSONValue.self, from: bytes) else { return bytes }
    list["privateTags"] = nil
    return JSONPayload.encode(JSONValue.object(list))
  }

  /// The figures of three workers; in place of those of a worker that does not answer, why.
  func status() async throws(Refusal) -> [UInt8] {
    var status: [String: JSONValue] = [:]
    for (name, method) in [
      ("store", StoreMethod.status.name), ("sending", PlanMethod.status.name), ("mirror", MirrorMethod.status.name),
    ] {
      do throws(Refusal) {
        status[name] = try JSONPayload.decode(JSONValue.self, from: try await request(method))
      } catch {
        if error.code == .noSupervisor || error.code == .cancelled { throw error }
        status[name] = .object(["error": .string(error.message)])
      }
    }
    return JSONPayload.encode(JSONValue.object(status))
  }

  func publishNote() async throws(Refusal) -> [UInt8] {
    let (event, publication) = try await client.publish(.note(text("text") ?? ""), as: text("account"))
    return JSONPayload.encode(
      JSONValue.object([
        "id": .string("\(event.id)"), "note": .string(event.id.note),
        "relays": .integer(Int64(publication.targets.count)),
      ]))
  }

  func follow() async throws(Refusal) -> [UInt8] {
    JSONPayload.encode(try await client.follow(keys(), as: text("account")))
  }

  func unfollow() async throws(Refusal) -> [UInt8] {
    JSONPayload.encode(try await client.unfollow(keys(), as: text("account")))
  }

  // MARK: Arguments

  static var options: RequestOptions { RequestOptions(ttlMilliseconds: timeoutMilliseconds) }

  func text(_ name: String) throws(Refusal) -> String? {
    switch arguments[name] {
    case nil: return nil
    case .string(let text): return text
    default: throw Refusal(.badRequest, "'\(name)' is not a text", outcome: .notStarted)
    }
  }

  func number(_ name: String, from range: ClosedRange<Int64>, otherwise standard: Int64) throws(Refusal) -> Int64 {
    switch arguments[name] {
    case nil: return standard
    case .integer(let number) where range.contains(number): return number
    default:
      throw Refusal(
        .badRequest, "'\(name)' is not a whole number from \(range.lowerBound) to \(range.upperBound)",
        outcome: .notStarted)
    }
  }

  private func keys() throws(Refusal) -> [PublicKey] {
    guard case .array(let texts)? = arguments["keys"], !texts.isEmpty else {
      throw Refusal(.badRequest, "'keys' is not a list with at least one key", outcome: .notStarted)
    }
    var keys: [PublicKey] = []
    for text in texts {
      guard case .string(let text) = text else {
        throw Refusal(.badRequest, "'keys' has what is not a text", outcome: .notStarted)
      }
      do throws(EntityFault) { keys.append(try PublicKey(spelled: text)) } catch {
        // Not repeated: it may be a secret.
        throw Refusal(.badRequest, "'keys' has what is not a public key: \(error)", outcome: .notStarted)
      }
    }
    return keys
  }
}

/// The items of an answer; no more than ``MCPCall/byteCountMaximum`` of them.
struct ItemPage: Encodable {
  private(set) var items: [JSONValue] = []
  /// Where the next page begins; nil: this is the last one.
  var next: String?
  /// Whether more items were left out.
  private(set) var isCut = false
  private var byteCount = 0

  private enum CodingKeys: String, CodingKey { case items, next, isCut }

  /// Adds an item; false when there is no room for it.
  mutating func add(_ bytes: [UInt8]) -> Bool {
    byteCount += bytes.count
    guard byteCount <= MCPCall.byteCountMaximum || items.isEmpty else {
      isCut = true
      return false
    }
    guard let value = try? JSONPayload.decode(JSONValue.self, from: bytes) else { return true }  // A worker's own form.
    items.append(value)
    return true
  }
}
