public import WebSocket

/// What is asked, and how much the answer may cost.
public struct HTTPRequest: Sendable, Hashable {
  /// What is to be done.
  public enum Method: String, Sendable {
    /// Fetch what is there.
    case get = "GET"
    /// Send a body.
    case post = "POST"
  }

  /// What is to be done.
  public var method: Method
  /// The whole address, `https://…` or `http://…`: printable ASCII, at most 4,096 bytes, without a user name and
  /// without a part after #.
  public var url: String
  /// Header fields beside those that are the client's own business: `Host`, `Content-Length`, `Transfer-Encoding`,
  /// `Connection`, `Accept-Encoding` and `Expect`. At most ``fieldMaximum``.
  public var fields: [HTTPField]
  /// The body, of a POST only; at most ``bodyByteCountMaximum``.
  public var body: [UInt8]
  /// Most bytes of the answer's body, counted after it was inflated.
  public var answerByteCountMaximum = 64 << 10
  /// How long looking the name up, connecting and the TLS handshake may take together, in milliseconds.
  public var connectMilliseconds: UInt64 = 5_000
  /// How long all may take, waiting for its turn among other requests too, in milliseconds.
  public var totalMilliseconds: UInt64 = 10_000
  /// Whether only addresses of the internet are dialled, because the address is on the word of other people. What a
  /// name resolves to counts, at the moment of dialling.
  public var dialsGlobalAddressesOnly = false

  /// Most header fields.
  public static let fieldMaximum = 32
  /// Most bytes of a body.
  public static let bodyByteCountMaximum = 1 << 20

  /// A request.
  public init(_ method: Method = .get, _ url: String, fields: [HTTPField] = [], body: [UInt8] = []) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
  }

  /// Fields that libcurl writes by itself.
  private static let reserved: Set<String> = [
    "host", "content-length", "transfer-encoding", "connection", "accept-encoding", "expect",
  ]

  /// What keeps it from being sent, a sentence's end; nil when nothing does.
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

/// What a server has answered.
public struct HTTPResponse: Sendable, Hashable {
  /// The status: 200, 404.
  public var status: Int
  /// The header fields, in their order; 32 KiB at most.
  public var fields: [HTTPField]
  /// The body, inflated.
  public var body: [UInt8]

  /// An answer.
  public init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// The value of the first field with this name, in whatever case.
  public subscript(field name: String) -> String? {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}
