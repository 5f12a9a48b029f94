import Bus
import Contracts
import Frames
import Nostr
import Observing

/// The arguments of `store.observe`, read and judged.
struct ObserveArguments {
  let plan: ObservePlan
  let afterSeq: Int64?
  let maxAge: Int64
  let id: String?

  /// - Parameter frameLimit: of this connection: what is observed must fit into a frame when it is told.
  /// - Throws: `bad-request` with the argument that is wrong.
  init(_ payload: BusPayload, frameLimit: Int) throws(Refusal) {
    let arguments = try Self.object(payload, names: StoreObserve.names, of: "store.observe")
    if case .string(let word)? = arguments["policy"], ObservePolicy(rawValue: word) == nil {
      let words = ObservePolicy.allCases.map(\.rawValue)
      throw Self.bad(
        "'policy' is '\(word)', and there are \(words.joined(separator: ", "))\(NearestName.hint(word, among: words))")
    }
    let wanted = try payload.decoded(as: StoreObserve.self)
    let relays = try Self.relays(wanted.relays ?? [])
    let isExclusive = wanted.exclusiveRelays ?? false
    if isExclusive, relays.isEmpty { throw Self.bad("'exclusiveRelays' needs 'relays'") }
    plan = ObservePlan(
      try Store.filters(wanted.filters), policy: wanted.policy ?? .cacheWithNetwork, relays: relays,
      isExclusive: isExclusive)
    let maximum = ObserveTable.entryByteMaximum(frameLimit: frameLimit)
    guard ObserveTable.byteCount(plan) <= maximum else {
      throw Self.bad("'filters' and 'relays' have more bytes together than \(maximum), which is what can be observed")
    }
    maxAge = wanted.maxAge ?? 0
    guard maxAge >= 0 else { throw Self.bad("'maxAge' is \(maxAge), and an age in seconds is 0 or more") }
    afterSeq = wanted.afterSeq
    id = wanted.id
    if let id { try Self.check(id) }
  }

  static func check(_ id: String) throws(Refusal) {
    guard (1...StoreObserve.idByteCountMaximum).contains(id.utf8.count) else {
      throw bad("'id' has \(id.utf8.count) bytes; 1 to \(StoreObserve.idByteCountMaximum) are taken")
    }
  }

  /// Canonical URLs.
  static func relays(_ texts: [String]) throws(Refusal) -> [String] {
    guard texts.count <= StoreObserve.relayMaximum else {
      throw bad("'relays' has \(texts.count) relays; \(StoreObserve.relayMaximum) are taken at most")
    }
    var urls: [String] = []
    for text in texts {
      do throws(RelayURLFault) { urls.append(try RelayURL(text).text) } catch { throw bad("'relays': \(error)") }
    }
    return urls
  }

  /// An object whose members are all known. A misspelt argument would else be one that is left out.
  static func object(
    _ payload: BusPayload, names: [String], of method: String
  ) throws(Refusal) -> [String: JSONValue] {
    guard case .object(let members) = try payload.decoded(as: JSONValue.self) else {
      throw Refusal(.badPayload, "the JSON is not an object", outcome: .notStarted)
    }
    for name in members.keys.sorted() where !names.contains(name) {
      throw bad("\(method) has no argument '\(name)'\(NearestName.hint(name, among: names))")
    }
    return members
  }

  private static func bad(_ message: String) -> Refusal { Refusal(.badRequest, message, outcome: .notStarted) }
}
