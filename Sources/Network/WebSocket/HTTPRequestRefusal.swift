/// Why a request is not answered as it wishes. Each has a status; texts of the client's are cut and printable.
public enum HTTPRequestRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// What came is not HTTP.
  case notHTTP
  /// What came is TLS, on a port that is without.
  case encrypted
  /// The first line is not a method, a target and a version with one space between.
  case badRequestLine(String)
  /// A version of HTTP other than 1.
  case unknownVersion(String)
  /// A target that is no path and no URL, or that decodes to nothing that can be shown.
  case badTarget(String)
  /// A target of more than ``HTTPRequestReader/targetByteCountMaximum`` bytes.
  case targetTooLong
  /// A line feed without a carriage return, or the other way round.
  case bareLineBreak
  /// A line of the head that is no field: a space in front of the colon, a folded line, a control character.
  case badField(String)
  /// More than ``HTTPRequestReader/headByteCountMaximum`` bytes.
  case headTooLong
  /// More than ``HTTPRequestReader/fieldCountMaximum`` fields.
  case tooManyFields
  /// No `Host` in HTTP/1.1, more than one, or one that is none.
  case badHost(String)
  /// A `Content-Length` that is no number, stands twice, or contradicts a `Transfer-Encoding`.
  case badLength(String)
  /// A body: nothing here takes one.
  case body
  /// A body of unknown length (`Transfer-Encoding: chunked`).
  case bodyOfUnknownLength
  /// Another transfer coding.
  case unknownCoding(String)
  /// The head did not come in time.
  case late
  /// A WebSocket is to be had here, and something else was asked for; or HTTP/1.0, which cannot be upgraded.
  case noUpgrade
  /// An upgrade by another method than GET.
  case wrongMethod(String)
  /// A version of the WebSocket protocol other than 13.
  case wrongWebSocketVersion(String)
  /// A `Sec-WebSocket-Key` that is not 16 bytes in Base64, or not one.
  case badKey

  /// The status that says it.
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

  /// A sentence for whoever wrote the client.
  public var description: String {
    switch self {
    case .notHTTP: "this port speaks HTTP/1.1"
    case .encrypted: "this port speaks HTTP/1.1 without TLS"
    case .badRequestLine(let line): "the first line is no request: \"\(line)\""
    case .unknownVersion(let version): "this port speaks HTTP/1.1, not \(version)"
    case .badTarget(let target): "the target is neither a path nor a URL: \"\(target)\""
    case .targetTooLong: "the target has more than \(HTTPRequestReader.targetByteCountMaximum) bytes"
    case .bareLineBreak: "lines end in CR LF, and neither stands alone"
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
