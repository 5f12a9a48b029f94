internal import Cryptography
public import Frames
internal import JSON

// The lines of `roost bus`: one request a line in, one answer a line out. `docs/bus.md` describes them for users.
//
// `id` may be any JSON value and is returned unchanged; `params` reaches the worker unchanged, to the digit. Raw bytes
// are `paramsBase64`, `partBase64`, `resultBase64`, `progressBase64` and `eventBase64`.

/// One line of the input of `roost bus`.
public enum BusLine: Sendable, Equatable {
  /// A method is called.
  case request(Request)
  /// The events of a topic are wanted, until this id is cancelled.
  case subscription(Subscription)
  /// So many more parts or events may be written of what has this id.
  case more(id: [UInt8], count: UInt32)
  /// What has this id is given up.
  case cancel(id: [UInt8])

  /// A call of a method.
  public struct Request: Sendable, Equatable {
    /// The caller's id for it: any JSON, unchanged.
    public var id: [UInt8]
    /// The method's name.
    public var method: String
    /// The arguments, unchanged; empty if there are no arguments.
    public var parameters: [UInt8]
    /// Whether the arguments are bytes of the method's own layout; otherwise they are JSON.
    public var isRaw: Bool
    /// The worker to call, if one is named.
    public var worker: String?
    /// The time to live of the request; 0 = no limit.
    public var ttlMilliseconds: UInt32
    /// Whether it must not be delivered twice.
    public var atMostOnce: Bool
    /// Whether it may be asked again after a lost connection.
    public var isIdempotent: Bool
    /// How many parts may be written before more are granted; nil: any number.
    public var window: UInt32?
  }

  /// A subscription to a topic.
  public struct Subscription: Sendable, Equatable {
    /// The caller's id for it: any JSON, unchanged.
    public var id: [UInt8]
    /// The topic's name.
    public var topic: String
    /// How many events may be written before more are granted; nil: any number.
    public var window: UInt32?
  }

  /// A line that cannot be read: what is wrong, and the id if one could be read.
  public struct Problem: Error, Equatable, Sendable {
    /// The id, unchanged; `null` if the line has no id.
    public let id: [UInt8]
    /// What is wrong, with the line's number.
    public let message: String

    /// A problem with a line.
    public init(id: [UInt8] = Array("null".utf8), message: String) {
      self.id = id
      self.message = message
    }
  }

  /// The members of each form of line, by the member that shows the form.
  private static let forms: KeyValuePairs<String, Set<String>> = [
    "cancel": ["cancel"], "more": ["more", "count"], "subscribe": ["id", "subscribe", "window"],
    "method": [
      "id", "method", "params", "paramsBase64", "to", "ttlMilliseconds", "atMostOnce", "idempotent", "window",
    ],
  ]

  /// Reads line `number` (from 1) of the input.
  public init(line: [UInt8], number: Int) throws(Problem) {
    let json: JSONText
    do throws(JSONFault) { json = try JSONText(line) } catch {
      throw Problem(message: "line \(number) is not JSON: \(error)")
    }
    let id = json.compactMember("id")
    // A line without any of them is read as a request, which then says what is missing.
    let form = Self.forms.first { json[$0.key] != nil } ?? Self.forms[Self.forms.count - 1]
    try Self.checkMembers(of: json, among: form.value, Problem(id: id, message: "line \(number)"))
    do throws(Refusal) {
      switch form.key {
      case "cancel": self = .cancel(id: json.compactMember("cancel"))
      case "more": self = .more(id: json.compactMember("more"), count: try json.needed("count", json.number("count")))
      case "subscribe":
        let topic = try json.needed("subscribe", json.text("subscribe"))
        self = .subscription(Subscription(id: id, topic: topic, window: try json.number("window")))
      default: self = .request(try Self.request(id, json))
      }
    } catch {
      throw Problem(id: id, message: "line \(number): \(error.message)")
    }
  }

  private static func checkMembers(of json: JSONText, among names: Set<String>, _ place: Problem) throws(Problem) {
    guard case .object(let members) = json.root else {
      throw Problem(id: place.id, message: "\(place.message) is not an object")
    }
    var seen: Set<String> = []
    for member in members {
      let name = String(decoding: json.bytes[member.key].dropFirst().dropLast(), as: UTF8.self)
      guard names.contains(name) else {
        let hint = NearestName.hint(name, among: names)
        throw Problem(
          id: place.id, message: "\(place.message) has a member '\(name)' that means nothing here\(hint)")
      }
      guard seen.insert(name).inserted else {
        throw Problem(id: place.id, message: "\(place.message) has the member '\(name)' twice")
      }
    }
  }

  private static func request(_ id: [UInt8], _ json: JSONText) throws(Refusal) -> Request {
    var parameters = json.compactMember("params")
    if parameters == Array("null".utf8) { parameters = [] }
    let base64 = try json.text("paramsBase64")
    if let base64 {
      guard parameters.isEmpty else { throw Refusal(.badRequest, "'params' and 'paramsBase64' exclude each other") }
      guard let bytes = Base64.decode(base64) else { throw Refusal(.badRequest, "'paramsBase64' is not Base64") }
      parameters = bytes
    }
    return Request(
      id: id, method: try json.needed("method", json.text("method")), parameters: parameters, isRaw: base64 != nil,
      worker: try json.text("to"), ttlMilliseconds: try json.number("ttlMilliseconds") ?? 0,
      atMostOnce: try json.flag("atMostOnce"), isIdempotent: try json.flag("idempotent"),
      window: try json.number("window"))
  }
}

// Read without a decoder: a line is short and comes often, and a decoder takes longer than all else here.
extension JSONText {
  /// A member of the outermost object on one line; `null` if it is not there.
  fileprivate func compactMember(_ name: String) -> [UInt8] { self[name].map { compact($0) } ?? Array("null".utf8) }

  /// The place of a member that is not `null`; an empty one for a list or an object.
  private func place(_ name: String) -> Range<Int>? {
    guard let node = self[name] else { return nil }
    guard case .scalar(let range) = node else { return 0..<0 }
    return bytes[range].elementsEqual("null".utf8) ? nil : range
  }

  fileprivate func text(_ name: String) throws(Refusal) -> String? {
    guard let range = place(name) else { return nil }
    guard bytes[range].first == UInt8(ascii: "\"") else { throw Refusal(.badRequest, "'\(name)' is not a text") }
    let content = range.lowerBound + 1..<range.upperBound - 1
    let string = JSONString(
      content: content, hasEscapes: bytes[content].contains(UInt8(ascii: "\\")), isCanonical: false)
    return bytes.withUnsafeBytes { string.string(in: $0) }
  }

  fileprivate func number(_ name: String) throws(Refusal) -> UInt32? {
    guard let range = place(name) else { return nil }
    guard let number = UInt32(String(decoding: bytes[range], as: UTF8.self)) else {
      throw Refusal(.badRequest, "'\(name)' is not a whole number in its range")
    }
    return number
  }

  fileprivate func flag(_ name: String) throws(Refusal) -> Bool {
    guard let range = place(name) else { return false }
    if bytes[range].elementsEqual("true".utf8) { return true }
    guard bytes[range].elementsEqual("false".utf8) else {
      throw Refusal(.badRequest, "'\(name)' is not true or false")
    }
    return false
  }

  fileprivate func needed<Value>(_ name: String, _ value: Value?) throws(Refusal) -> Value {
    guard let value else { throw Refusal(.badRequest, "'\(name)' is missing") }
    return value
  }
}

/// One line of the output of `roost bus`, without its newline.
public enum BusReply {
  /// A part, or with `isLast` the terminal answer's payload.
  public static func part(id: [UInt8], payload: [UInt8], isRaw: Bool, isLast: Bool) -> [UInt8] {
    line(id, isLast ? "result" : "part", payload, isRaw: isRaw)
  }

  /// The progress of a worker: nothing more than that it works (`null`), JSON of the method's own, or raw bytes.
  public static func progress(id: [UInt8], payload: [UInt8]) -> [UInt8] {
    guard !payload.isEmpty else { return line(id, "progress", null) }
    // Not JSON is an answer here, not a fault.
    return line(id, "progress", payload, isRaw: (try? JSONText(payload)) == nil)
  }

  /// The end of an answer without contents.
  public static func end(id: [UInt8]) -> [UInt8] { line(id, "result", null) }

  /// The subscription has begun.
  public static func subscribed(id: [UInt8]) -> [UInt8] { line(id, "subscribed", Array("true".utf8)) }

  /// An event of a subscribed topic.
  public static func event(id: [UInt8], payload: [UInt8], isRaw: Bool) -> [UInt8] {
    line(id, "event", payload, isRaw: isRaw)
  }

  /// At this place so many events of a subscription are missing; nil: a number that is not known.
  public static func missed(id: [UInt8], count: UInt64?) -> [UInt8] {
    line(id, "missed", count.map { Array(String($0).utf8) } ?? null)
  }

  /// A refusal.
  public static func error(id: [UInt8], _ refusal: Refusal) -> [UInt8] {
    line(id, "error", JSONPayload.encode(refusal))
  }

  /// A line that could not be read.
  public static func error(_ problem: BusLine.Problem) -> [UInt8] {
    error(id: problem.id, Refusal(.badRequest, problem.message, outcome: .notStarted))
  }

  private static let null = Array("null".utf8)

  private static func line(_ id: [UInt8], _ name: String, _ payload: [UInt8], isRaw: Bool = false) -> [UInt8] {
    let member = isRaw ? (name + "Base64", JSONLine.string(Base64.encode(payload))) : (name, PayloadText.line(payload))
    return JSONLine.object([("id", id), member])
  }
}
