/// A header field of a request or an answer.
public struct HTTP2Header: Sendable, Hashable {
  /// In lower case, as HTTP/2 requires.
  public var name: String
  /// The value, without line ends.
  public var value: String
  /// Whether most requests of a connection have this same value, so that it is worth a place in the connection's header
  /// table. A secret of one receiver, such as a token, is not.
  public var isRepeated: Bool

  /// A field.
  public init(_ name: String, _ value: String, isRepeated: Bool = true) {
    self.name = name
    self.value = value
    self.isRepeated = isRepeated
  }
}

/// One request to the origin of its `HTTP2Sender`.
public struct HTTP2Request: Sendable, Hashable {
  /// The maximum of bytes in a body. A push has some thousands.
  public static let bodyByteCountMaximum = 65_536
  /// The maximum of bytes in all names and values, including the path: the limit that most servers have.
  public static let headerByteCountMaximum = 16_384

  /// The method, such as `POST`.
  public var method: String
  /// The path with the query, from the `/` on.
  public var path: String
  /// The headers, without method, path, scheme and authority, which the sender writes.
  public var headers: [HTTP2Header]
  /// The body; if it is empty, no body is sent.
  public var body: [UInt8]
  /// The limit from the call to the end of the answer, in milliseconds, including the wait for a connection and for a
  /// free stream.
  public var timeoutMilliseconds: UInt64

  /// A request. The default of the timeout is 30 s.
  public init(
    method: String, path: String, headers: [HTTP2Header] = [], body: [UInt8] = [], timeoutMilliseconds: UInt64 = 30_000
  ) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
    self.timeoutMilliseconds = timeoutMilliseconds
  }

  /// What is wrong with it, in words, or nil. A faulty request is not sent: the far side would end the stream, or the
  /// whole connection with the other requests on it.
  var fault: String? {
    guard !method.isEmpty, method.utf8.allSatisfy(Self.isTokenByte) else { return "the method is not a word" }
    guard path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      return "the path does not begin with a slash, or has a character that a path cannot have"
    }
    guard body.count <= Self.bodyByteCountMaximum else { return "the body has more than 65,536 bytes" }
    var byteCount = path.utf8.count
    for header in headers {
      byteCount += header.name.utf8.count + header.value.utf8.count
      if let fault = Self.fault(of: header) { return fault }
    }
    return byteCount <= Self.headerByteCountMaximum ? nil : "the header has more than 16,384 bytes"
  }

  // RFC 9113, 8.2.2: fields about the connection are not allowed in a stream.
  private static let forbiddenNames: Set<String> = [
    "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade", "te", "host", "content-length",
  ]

  private static func fault(of header: HTTP2Header) -> String? {
    let name = header.name
    guard !name.isEmpty, name.utf8.allSatisfy({ isTokenByte($0) && !(0x41...0x5A).contains($0) }) else {
      return "a header's name is not a word in lower case"
    }
    if forbiddenNames.contains(name) { return "the header “\(name)” is the connection's, or the sender's to write" }
    let value = header.value.utf8
    guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }), value.first != 0x20, value.last != 0x20 else {
      return "the value of “\(name)” has a character that a value cannot have there"
    }
    return nil
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
