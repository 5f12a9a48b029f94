/// Why a request is refused. Each reason has a status; texts of the client are cut and printable.
public enum HTTPRequestRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The input is not HTTP.
  case notHTTP
  /// The input is TLS, on a port without TLS.
  case encrypted
  /// The first line is not a method, a target and a version separated by one space.
  case badRequestLine(String)
  /// A version of HTTP other than 1.
  case unknownVersion(String)
  /// A target that is neither a path nor a URL, or that cannot be decoded to printable text.
  case badTarget(String)
  /// A target of more than ``HTTPRequestReader/targetByteCountMaximum`` bytes.
  case targetTooLong
  /// A line feed without a carriage return, or the reverse.
  case bareLineBreak
  /// A line of the head that is not a field: a space before the colon, a folded line, a control character.
  case badField(String)
  /// More than ``HTTPRequestReader/headByteCountMaximum`` bytes.
  case headTooLong
  /// More than ``HTTPRequestReader/fieldCountMaximum`` fields.
  case tooManyFields
  /// No `Host` in HTTP/1.1, more than one, or an invalid one.
  case badHost(String)
  /// A `Content-Length` that is not a number, is repeated, or contradicts a `Transfer-Encoding`.
  case badLength(String)
  /// A body: no request may have one here.
  case body
  /// A body of unknown length (`Transfer-Encoding: chunked`).
  case bodyOfUnknownLength
  /// Another transfer coding.
  case unknownCoding(String)
  /// The head did not arrive in time.
  case late
  /// Only WebSockets are served here, and the request asked for something else; or HTTP/1.0, which cannot be upgraded.
  case noUpgrade
  /// An upgrade with another method than GET.
  case wrongMethod(String)
  /// A version of the WebSocket protocol other than 13.
  case wrongWebSocketVersion(String)
  /// A `Sec-WebSocket-Key` that is not 16 bytes in Base64, or not exactly one such field.
  case badKey

  /// The status of the answer.
  public var status: Int {
    switch self {
    case .notHTTP, .encrypted, .badRequestLine, .badTarget, .bareLineBreak, .badField, .badHost, .badLength, .badKey:
      400
    case .wrongMethod: 405
    case .late: 408
    case .bodyOfUnknownLength: 411
    case .body: 413
    case .targetTooLong: 414
    case .noUpgrade, .wrongWebSocketVersion: 426
    case .headTooLong, .tooManyFields: 431
    case .unknownCoding: 501
    case .unknownVersion: 505
    }
  }

  /// A sentence for the author of the client.
  public var description: String {
    switch self {
    case .notHTTP: "this port speaks HTTP/1.1"
    case .encrypted: "this port speaks HTTP/1.1 without TLS"
    case .badRequestLine(let line): "the first line is no request: \"\(line)\""
    case .unknownVersion(let version): "this port speaks HTTP/1.1, not \(version)"
    case .badTarget(let target): "the target is neither a path nor a URL: \"\(target)\""
    case .targetTooLong: "the target has more than \(HTTPRequestReader.targetByteCountMaximum) bytes"
    case .bareLineBreak: "lines end in CR LF; a CR or LF alone is not allowed"
    case .badField(let line): "a line is no field: \"\(line)\""
    case .headTooLong: "the head has more than \(HTTPRequestReader.headByteCountMaximum) bytes"
    case .tooManyFields: "there are more than \(HTTPRequestReader.fieldCountMaximum) fields"
    case .badHost(let host): "one proper Host is wanted, not \"\(host)\""
    case .badLength(let length): "Content-Length makes no sense: \"\(length)\""
    case .body: "a request with a body is not taken here"
    case .bodyOfUnknownLength: "a request with a body of unknown length is not taken here"
    case .unknownCoding(let coding): "the transfer coding \"\(coding)\" is not known here"
    case .late: "the request did not come in time"
    case .noUpgrade: "a WebSocket is to be had here: Upgrade: websocket, Connection: Upgrade, HTTP/1.1"
    case .wrongMethod(let method): "an upgrade is asked for by GET, not \(method)"
    case .wrongWebSocketVersion(let version): "WebSockets of version 13 are to be had here, not \"\(version)\""
    case .badKey: "one Sec-WebSocket-Key is wanted: 16 bytes in Base64"
    }
  }
}
