public import WebSocket

/// A request, and how much its answer may cost.
public struct HTTPRequest: Sendable, Hashable {
  /// The method.
  public enum Method: String, Sendable {
    /// Fetch the resource.
    case get = "GET"
    /// Send a body.
    case post = "POST"
  }

  /// The method.
  public var method: Method
  /// The whole address, `https://…` or `http://…`: printable ASCII, at most 4,096 bytes, without a user name and
  /// without a part after #.
  public var url: String
  /// Header fields in addition to the client's own: `Host`, `Content-Length`, `Transfer-Encoding`, `Connection`,
  /// `Accept-Encoding` and `Expect`. At most ``fieldMaximum``.
  public var fields: [HTTPField]
  /// The body, of a POST only; at most ``bodyByteCountMaximum``.
  public var body: [UInt8]
  /// The maximum of bytes in the answer's body, after it was inflated.
  public var answerByteCountMaximum = 64 << 10
  /// The limit for the name look-up, connecting and the TLS handshake together, in milliseconds.
  public var connectMilliseconds: UInt64 = 5_000
  /// The limit for everything, including the wait for other requests, in milliseconds.
  public var totalMilliseconds: UInt64 = 10_000
  /// Whether only global addresses are dialled, because the URL comes from other people. The addresses that the name
  /// resolves to at the moment of dialling decide.
  public var dialsGlobalAddressesOnly = false

  /// The maximum number of header fields.
  public static let fieldMaximum = 32
  /// The maximum of bytes in a body.
  public static let bodyByteCountMaximum = 1 << 20

  /// A request.
  public init(_ method: Method = .get, _ url: String, fields: [HTTPField] = [], body: [UInt8] = []) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
  }

  /// Fields that libcurl writes itself.
  private static let reserved: Set<String> = [
    "host", "content-length", "transfer-encoding", "connection", "accept-encoding", "expect",
  ]

  /// Why it cannot be sent, as the end of a sentence; nil if it can.
  var objection: String? {
    if method == .get, !body.isEmpty { return "a GET has no body" }
    if body.count > Self.bodyByteCountMaximum { return "its body has more than \(Self.bodyByteCountMaximum) bytes" }
    if fields.count > Self.fieldMaximum { return "it has more than \(Self.fieldMaximum) header fields" }
    for field in fields {
      let isToken = field.name.utf8.allSatisfy { byte in
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
      guard isToken, !field.name.isEmpty else { return "\"\(printable(field.name))\" is no name of a header field" }
      if Self.reserved.contains(field.name.lowercased()) { return "the field \(field.name) is not the caller's" }
      guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        return "the field \(field.name) has a control character in it"
      }
    }
    return nil
  }
}

/// The answer of a server.
public struct HTTPResponse: Sendable, Hashable {
  /// The status: 200, 404.
  public var status: Int
  /// The header fields, in their order; at most 32 KiB.
  public var fields: [HTTPField]
  /// The body, inflated.
  public var body: [UInt8]

  /// An answer.
  public init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// The value of the first field with this name, in any case.
  public subscript(field name: String) -> String? {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}
