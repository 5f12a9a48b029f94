internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Nostr
internal import RoostClient

/// The tools about events: what filters match, page by page, as a number, or as it comes.
@EventLoopActor
struct MCPSearch {
  private let call: MCPCall

  nonisolated static let limitMaximum: Int64 = 500
  nonisolated static let secondsMaximum: Int64 = 300
  private static let limitStandard: Int64 = 20
  private static let secondsStandard: Int64 = 30

  /// Kinds whose events only their recipients are meant to read, or that hold what such an event held.
  nonisolated static let privateKinds: Set<Int64> = Set(
    [
      EventKind.encryptedDirectMessage, EventKind.seal, EventKind.privateMessage, EventKind.privateFile,
      EventKind.remoteSigning,
    ].map(Int64.init) + EventKind.giftWraps.map(Int64.init))

  init(_ call: MCPCall) { self.call = call }

  nonisolated static func isPrivate(_ event: JSONValue) -> Bool {
    if case .integer(let kind)? = event["kind"] { privateKinds.contains(kind) } else { false }
  }

  func count() async throws(Refusal) -> [UInt8] {
    try call.checkKinds()
    return try await call.request(StoreMethod.count.name)
  }

  /// One page of stored events. A cursor is `SECONDS:ID`, the last event before it: the store gives events by time, and
  /// within one second the lowest id first.
  func page() async throws(Refusal) -> [UInt8] {
    try call.checkKinds()
    let limit = try call.number("limit", from: 1...Self.limitMaximum, otherwise: Self.limitStandard)
    let cursor = try cursor()
    let answer = try await call.client.stream(
      StoreMethod.query.name, BusPayload(json: try arguments(behind: cursor)), options: MCPCall.options)
    defer { answer.cancel() }
    var page = ItemPage()
    var last: Cursor?
    while let part = try await answer.nextPart(), !part.isLast {
      let event = try part.payload.decoded(as: JSONValue.self)
      guard case .integer(let time)? = event["created_at"], case .string(let id)? = event["id"] else { continue }
      if let cursor, time == cursor.time, id <= cursor.id { continue }
      if Self.isPrivate(event), !call.grants.contains(.private) { continue }
      guard page.items.count < limit, page.add(part.payload.bytes) else {
        page.next = last.map { "\($0.time):\($0.id)" }
        break
      }
      last = Cursor(time: time, id: id)
      await call.report?(page.items.count)
    }
    return JSONPayload.encode(page)
  }

  /// New events, as they come.
  func watch() async throws(Refusal) -> [UInt8] {
    try call.checkKinds()
    let limit = try call.number("limit", from: 1...Self.limitMaximum, otherwise: Self.limitStandard)
    let seconds = try call.number("seconds", from: 1...Self.secondsMaximum, otherwise: Self.secondsStandard)
    // With a limit of 0, no stored events come before the new ones.
    let filters = try filters { $0["limit"] = .integer(0) }
    let answer = try await call.client.stream(
      StoreMethod.observe.name, BusPayload(json: filters),
      options: RequestOptions(ttlMilliseconds: UInt32(seconds) * 1_000))
    defer { answer.cancel() }
    var page = ItemPage()
    do throws(Refusal) {
      while page.items.count < limit, let part = try await answer.nextPart() {
        guard let event = try part.payload.decoded(as: JSONValue.self)["event"] else { continue }
        if Self.isPrivate(event), !call.grants.contains(.private) { continue }
        guard page.add(JSONPayload.encode(event)) else { break }
        await call.report?(page.items.count)
      }
    } catch  where error.code == .expired {
      // The time is over, as was asked.
    }
    return JSONPayload.encode(page)
  }

  // MARK: Pages

  private struct Cursor {
    let time: Int64
    let id: String
  }

  private func cursor() throws(Refusal) -> Cursor? {
    guard let text = try call.text("cursor") else { return nil }
    let parts = text.split(separator: ":")
    guard parts.count == 2, let time = Int64(parts[0]) else {
      throw Refusal(.badRequest, "'cursor' is not 'next' of an earlier page", outcome: .notStarted)
    }
    return Cursor(time: time, id: String(parts[1]))
  }

  /// The filters up to the cursor's second.
  private func arguments(behind cursor: Cursor?) throws(Refusal) -> JSONValue {
    try filters { members in
      guard let cursor else { return }
      var until = cursor.time
      if case .integer(let given)? = members["until"] { until = min(until, given) }
      members["until"] = .integer(until)
    }
  }

  /// Arguments with the filters of the call, each changed.
  private func filters(_ change: (inout [String: JSONValue]) -> Void) throws(Refusal) -> JSONValue {
    guard case .array(let filters)? = call.arguments["filters"] else {
      throw Refusal(.badRequest, "'filters' is not a list", outcome: .notStarted)
    }
    let changed = filters.map { filter in
      guard case .object(var members) = filter else { return filter }
      change(&members)
      return .object(members)
    }
    return .object(["filters": .array(changed)])
  }
}
