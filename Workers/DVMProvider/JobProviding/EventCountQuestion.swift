internal import Cryptography
internal import Frames
public import Nostr

// Kind 5400 of the data vending machines (NIP-90): how many events match. The filters are the request's content, a JSON
// list; programs also write them into an input of type text, or a parameter `filter`. The parameter `relay`, which says
// where to count, is ignored: the count is of events in the store of this machine.

/// Why a built-in service cannot understand a request; the end of a sentence for the customer.
public struct QuestionFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public let description: String

  /// A fault with this description.
  public init(_ description: String) { self.description = description }
}

/// What a request of kind 5400 asks for.
public struct EventCountQuestion: Sendable, Hashable {
  /// By what the events are grouped.
  public enum Group: Sendable, Hashable {
    /// The content.
    case content
    /// The author.
    case pubkey
    /// The event that it replies to: the `e` tag marked "reply".
    case reply
    /// The root of its thread: the `e` tag marked "root".
    case root
    /// The first value of the first tag with this name.
    case tag(String)
  }

  /// The filters.
  public let filters: [Filter]
  /// By what the events are grouped, the outermost group first; empty: the answer is one number.
  public let groups: [Group]

  /// Most filters in one request.
  public static let filterMaximum = 20
  /// Most nested groups.
  public static let groupMaximum = 4

  /// Reads a request, decrypted if it was encrypted.
  public init(_ request: JobRequest) throws(QuestionFault) {
    let texts =
      request.terms.inputs.filter { $0.form == .text || $0.type.isEmpty }.map(\.data)
      + ["filter", "filters"].flatMap { request.terms.values(of: $0) ?? [] }
    let candidates = (request.terms.isEncrypted ? [] : [request.content.text].compactMap { $0 }) + texts
    guard let text = candidates.first else {
      throw QuestionFault("filters are missing: the content is a list of them, as in [{\"kinds\":[1]}]")
    }
    filters = try Self.filters(text)
    var groups: [Group] = []
    for parameter in request.terms.parameters where parameter.name == "group" {
      for value in parameter.values { groups.append(Self.group(value)) }
    }
    guard groups.count <= Self.groupMaximum else {
      throw QuestionFault("there are \(groups.count) groups; \(Self.groupMaximum) are possible")
    }
    self.groups = groups
  }

  private static func group(_ name: String) -> Group {
    switch name {
    case "content": .content
    case "pubkey": .pubkey
    case "reply": .reply
    case "root": .root
    default: .tag(name)
    }
  }

  private static func filters(_ text: String) throws(QuestionFault) -> [Filter] {
    let values: [JSONValue]
    do throws(Refusal) {
      switch try JSONPayload.decode(JSONValue.self, from: text.utf8) {
      case .array(let list): values = list
      case let one: values = [one]
      }
    } catch { throw QuestionFault("the filters are not JSON") }
    guard (1...filterMaximum).contains(values.count) else {
      throw QuestionFault("there are \(values.count) filters; 1 to \(filterMaximum) are possible")
    }
    var filters: [Filter] = []
    for value in values {
      do throws(FilterFault) { filters.append(try Filter(json: JSONPayload.encode(value))) } catch {
        throw QuestionFault("a filter cannot be read: \(error)")
      }
    }
    return filters
  }

  /// The answer to a question without groups.
  public static func answer(count: Int) -> String { "\(count)" }

  /// The answer to a question with groups, as JSON: events by the first group, within it by the next. An event that has
  /// no value for a group counts under "".
  public func answer(grouping events: [Event]) -> String {
    String(decoding: JSONPayload.encode(Self.counted(events[...].map { $0 }, groups[...])), as: UTF8.self)
  }

  private static func counted(_ events: [Event], _ groups: ArraySlice<Group>) -> JSONValue {
    guard let group = groups.first else { return .integer(Int64(events.count)) }
    // Grouped by bytes: strings that look alike are different keys.
    var divided: [[UInt8]: [Event]] = [:]
    for event in events { divided[Array(group.value(of: event).utf8), default: []].append(event) }
    var members: [String: JSONValue] = [:]
    for (key, events) in divided.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      members[String(decoding: key, as: UTF8.self)] = counted(events, groups.dropFirst())
    }
    return .object(members)
  }
}

extension EventCountQuestion.Group {
  func value(of event: Event) -> String {
    switch self {
    case .content: event.content
    case .pubkey: event.pubkey.description
    case .reply: Self.marked("reply", event)
    case .root: Self.marked("root", event)
    case .tag(let name): event.firstValue(of: name) ?? ""
    }
  }

  private static func marked(_ marker: String, _ event: Event) -> String {
    event.tags.first { $0.count > 3 && $0[0] == "e" && $0[3] == marker }?[1] ?? ""
  }
}
