// APNs as Apple describes it: “Sending notification requests to APNs”, “Handling notification responses from APNs” and
// “Establishing a token-based connection to APNs”. Where those pages leave it open, the fake is on the strict side.
import Cryptography
import Frames

struct APNsFake {
  static let keyIdentifier = "FAKEKEY123"
  static let team = "FAKETEAM12"
  /// The one app; its calls come on the same topic with `.voip` behind it.
  static let topic = "app.example.wallet"
  /// Seconds that a provider token is good for.
  static let tokenAgeMaximum: Int64 = 3_600
  /// Seconds between two provider tokens of one connection at least.
  static let tokenSpacing: Int64 = 1_200
  /// Seconds by which clocks may differ.
  static let clockSkew: Int64 = 5
  static let payloadByteCountMaximum = 4_096
  static let callPayloadByteCountMaximum = 5_120

  let publicKey: [UInt8]
  /// All provider tokens that were good.
  private(set) var tokens: Set<String> = []
  private var connections: [Int: [String: Int64]] = [:]
  private var lastIdentifier = 0

  init(publicKey: [UInt8]) { self.publicKey = publicKey }

  /// Whether a good provider token has come by a connection.
  func isAuthenticated(_ connection: Int) -> Bool { connections[connection] != nil }

  /// The answer to a request; 200 when there is nothing to object to.
  mutating func reply(to arrival: Arrival) -> Reply {
    lastIdentifier += 1
    let given = arrival.value("apns-id")
    let identifier = given ?? "00000000-0000-4000-8000-" + Self.padded(lastIdentifier)
    let fault = requestFault(arrival) ?? tokenFault(arrival) ?? notificationFault(arrival) ?? payloadFault(arrival)
    guard let (status, reason) = fault else {
      var reply = Reply(200)
      reply.headers = [("apns-id", identifier)]
      return reply
    }
    return Self.refusal(status, reason, identifier: identifier)
  }

  static func refusal(_ status: Int, _ reason: String, identifier: String, timestamp: Int64? = nil) -> Reply {
    var body: [String: JSONValue] = ["reason": .string(reason)]
    if let timestamp { body["timestamp"] = .integer(timestamp) }
    var reply = Reply(status, .object(body), reason: reason)
    reply.headers.append(("apns-id", identifier))
    return reply
  }

  private static func padded(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 12 - digits.count) + digits
  }

  typealias Fault = (Int, String)

  /// The device token that stands in a path.
  static func deviceToken(_ path: String) -> String? {
    path.hasPrefix("/3/device/") ? String(path.dropFirst(10)) : nil
  }

  private func requestFault(_ arrival: Arrival) -> Fault? {
    guard let token = Self.deviceToken(arrival.path) else { return (404, "BadPath") }
    guard arrival.method == "POST" else { return (405, "MethodNotAllowed") }
    guard !token.isEmpty else { return (400, "MissingDeviceToken") }
    let names = arrival.headers.map(\.name).filter { $0.hasPrefix("apns-") || $0 == "authorization" }
    guard Set(names).count == names.count else { return (400, "DuplicateHeaders") }
    return nil
  }

  private mutating func tokenFault(_ arrival: Arrival) -> Fault? {
    guard let text = arrival.value("authorization") else { return (403, "MissingProviderToken") }
    guard text.lowercased().hasPrefix("bearer "), let token = CompactToken(text.dropFirst(7)),
      token.header["alg"]?.text == "ES256", token.header["kid"]?.text == Self.keyIdentifier,
      token.claims["iss"]?.text == Self.team, let issued = token.claims["iat"]?.whole,
      P256.isValid(token.signature, of: token.message, by: publicKey)
    else { return (403, "InvalidProviderToken") }
    let now = arrival.milliseconds / 1_000
    guard issued <= now + Self.clockSkew else { return (403, "InvalidProviderToken") }
    guard now - issued <= Self.tokenAgeMaximum else { return (403, "ExpiredProviderToken") }
    var known = connections[arrival.connection] ?? [:]
    if known[text] == nil {
      if let newest = known.values.max(), now - newest < Self.tokenSpacing {
        return (429, "TooManyProviderTokenUpdates")
      }
      known[text] = now
      connections[arrival.connection] = known
      tokens.insert(text)
    }
    return nil
  }

  private static let types: Set<String> = [
    "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk",
    "widgets",
  ]

  private func notificationFault(_ arrival: Arrival) -> Fault? {
    let token = Self.deviceToken(arrival.path) ?? ""
    guard (64...200).contains(token.utf8.count), token.utf8.count.isMultiple(of: 2), token.allSatisfy(\.isHexDigit)
    else { return (400, "BadDeviceToken") }
    guard let topic = arrival.value("apns-topic"), !topic.isEmpty else { return (400, "MissingTopic") }
    guard let type = arrival.value("apns-push-type"), Self.types.contains(type) else { return (400, "InvalidPushType") }
    let wanted = type == "voip" ? Self.topic + ".voip" : Self.topic
    guard topic.hasPrefix(Self.topic) else { return (400, "TopicDisallowed") }
    guard topic == wanted else { return (400, "BadTopic") }
    let priority = arrival.value("apns-priority") ?? "10"
    guard ["10", "5", "1"].contains(priority), type != "background" || priority == "5" else {
      return (400, "BadPriority")
    }
    if let text = arrival.value("apns-expiration"), (Int64(text) ?? -1) < 0 { return (400, "BadExpirationDate") }
    if let text = arrival.value("apns-id"), !Self.isUUID(text) { return (400, "BadMessageId") }
    if let text = arrival.value("apns-collapse-id"), text.utf8.count > 64 { return (400, "BadCollapseId") }
    return nil
  }

  private static func isUUID(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.joined().allSatisfy(\.isHexDigit)
  }

  private func payloadFault(_ arrival: Arrival) -> Fault? {
    let type = arrival.value("apns-push-type")
    guard !arrival.body.isEmpty else { return (400, "PayloadEmpty") }
    let maximum = type == "voip" ? Self.callPayloadByteCountMaximum : Self.payloadByteCountMaximum
    guard arrival.body.count <= maximum else { return (413, "PayloadTooLarge") }
    // Apple has no reason of its own for a payload that cannot be read.
    guard let payload = JSONValue(json: arrival.body), let aps = payload["aps"]?.members else {
      return (400, "PayloadEmpty")
    }
    if type == "background", aps != ["content-available": .integer(1)] { return (400, "InvalidPushType") }
    return nil
  }
}
