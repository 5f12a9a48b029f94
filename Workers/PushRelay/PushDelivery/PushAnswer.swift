internal import Frames

/// A platform's answer to one request.
public struct PushAnswer: Hashable, Sendable {
  /// The status.
  public var status: Int
  /// The header `Retry-After`, unchanged.
  public var retryAfter: String?
  /// The body, cut to ``bodyByteCountMaximum``; a cut body is then usually not valid JSON.
  public var body: [UInt8]

  /// The maximum number of bytes of a body. Real answers of platforms are at most a tenth of it.
  public static let bodyByteCountMaximum = 8_192

  /// An answer.
  public init(status: Int, retryAfter: String? = nil, body: [UInt8] = []) {
    self.status = status
    self.retryAfter = retryAfter
    self.body = Array(body.prefix(Self.bodyByteCountMaximum))
  }

  /// The body as JSON; nil when it is not an object: empty, cut off, or a proxy's page.
  var json: JSONValue? {
    guard body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return nil }
    // A body that is not JSON is ignored: then only the status counts.
    return try? JSONPayload.decode(JSONValue.self, from: body)
  }

  /// How long to wait before another request, in milliseconds; nil when the answer does not say.
  func wait(unixMilliseconds: Int64) -> UInt64? {
    retryAfter.flatMap { RetryAfter.milliseconds($0, unixMilliseconds: unixMilliseconds) }
  }
}

extension JSONValue {
  /// The text; nil for another type.
  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The elements of a list; empty for another type.
  var items: [JSONValue] {
    guard case .array(let items) = self else { return [] }
    return items
  }

  /// A number, also one that was written as a text or with a fraction; nil for another type.
  var wholeNumber: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let value): abs(value) < 9e18 ? Int64(value) : nil
    case .string(let text): Int64(text)
    default: nil
    }
  }
}
