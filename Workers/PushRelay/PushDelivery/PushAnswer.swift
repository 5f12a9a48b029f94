internal import Frames

/// What a platform answered to one request.
public struct PushAnswer: Hashable, Sendable {
  /// The status.
  public var status: Int
  /// The header `Retry-After`, as it stands.
  public var retryAfter: String?
  /// The body; of more than ``bodyByteCountMaximum`` only the beginning, which then mostly is no JSON.
  public var body: [UInt8]

  /// Bytes of a body that are looked at. The longest that a platform means to send is a tenth of it.
  public static let bodyByteCountMaximum = 8_192

  /// An answer.
  public init(status: Int, retryAfter: String? = nil, body: [UInt8] = []) {
    self.status = status
    self.retryAfter = retryAfter
    self.body = Array(body.prefix(Self.bodyByteCountMaximum))
  }

  /// The body as JSON; nil when it is something else: empty, cut off, or a proxy's page.
  var json: JSONValue? {
    guard body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return nil }
    // What is no JSON says nothing: the status counts.
    return try? JSONPayload.decode(JSONValue.self, from: body)
  }

  /// How long not to ask again, in milliseconds; nil when nothing usable is said.
  func wait(unixMilliseconds: Int64) -> UInt64? {
    retryAfter.flatMap { RetryAfter.milliseconds($0, unixMilliseconds: unixMilliseconds) }
  }
}

extension JSONValue {
  /// The text itself; nil for anything else.
  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The values of a list; none for anything else.
  var items: [JSONValue] {
    guard case .array(let items) = self else { return [] }
    return items
  }

  /// A number, also one that somebody wrote as a text or with a fraction; nil for anything else.
  var wholeNumber: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let value): abs(value) < 9e18 ? Int64(value) : nil
    case .string(let text): Int64(text)
    default: nil
    }
  }
}
