/// An answer in plain HTTP, after which the connection is closed.
///
/// It has `Connection: close` and its length; the answer to HEAD has no body. There is no `Date`, because this layer
/// has no wall clock; a caller that has one may add the field.
public struct HTTPAnswer: Sendable, Hashable {
  /// 200 to 599.
  public var status: Int
  /// Fields in addition to `Content-Length` and `Connection`, which are written here. A control character in one is
  /// sent as `?`.
  public var fields: [HTTPField]
  /// The body. Ignored with 204 and 304, which have none. A body larger than what may wait for a connection
  /// (``WebSocketLimits/pendingByteCountMaximum``) ends the connection.
  public var body: [UInt8]

  /// An answer of these parts.
  public init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
    precondition((200..<600).contains(status), "an answer is final")
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// One line of plain text; a line end is added.
  public init(status: Int, text: String, fields: [HTTPField] = []) {
    let type = HTTPField("Content-Type", "text/plain; charset=utf-8")
    self.init(status: status, fields: [type] + fields, body: Array((text + "\n").utf8))
  }

  /// The answer to a refused request, with the fields that its status requires.
  public init(_ refusal: HTTPRequestRefusal) {
    let fields: [HTTPField] =
      switch refusal {
      case .wrongMethod: [HTTPField("Allow", "GET")]
      case .noUpgrade, .wrongWebSocketVersion:
        [HTTPField("Upgrade", "websocket"), HTTPField("Sec-WebSocket-Version", "13")]
      default: []
      }
    self.init(status: refusal.status, text: refusal.description, fields: fields)
  }

  /// The whole answer as it is sent; without its body if the request was HEAD.
  func bytes(isHead: Bool = false) -> [UInt8] {
    let hasBody = status != 204 && status != 304
    var lines = ["HTTP/1.1 \(status) \(Self.reason(of: status))"]
    lines += fields.map { "\(Self.plain($0.name)): \(Self.plain($0.value))" }
    if hasBody { lines.append("Content-Length: \(body.count)") }
    // 426 is the only status that names its upgrade in the connection field (RFC 9110, 15.5.22).
    lines.append(status == 426 ? "Connection: close, Upgrade" : "Connection: close")
    let head = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    return hasBody && !isHead ? head + body : head
  }

  /// Foreign text must not begin a line.
  static func plain(_ text: String) -> String {
    String(decoding: text.utf8.map { $0 >= 0x20 && $0 != 0x7F ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }

  private static func reason(of status: Int) -> String {
    switch status {
    case 200: "OK"
    case 204: "No Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 411: "Length Required"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 426: "Upgrade Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    // The phrase is for people and may be empty; its space may not be left out.
    default: ""
    }
  }
}
