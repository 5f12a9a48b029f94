// Web pages of other origins (CORS, in the Fetch standard): by OPTIONS, with `Origin`, a browser asks whether a page
// may send a request. It shows the page an answer only if that names the page's origin, or all.
//
// Any program may send what a page may send, and the relay reads no cookie: only the signature identifies the sender.
// So the operator's list keeps unknown pages away, and protects no phone.

/// The origins whose pages may use the service.
public struct CrossOrigin: Hashable, Sendable {
  private let origins: Set<String>
  private let isForAll: Bool

  /// The word for all origins.
  public static let all = "*"
  /// Most bytes of an origin: a host's name has 253.
  public static let byteCountMaximum = 300
  /// How long a browser may reuse a preflight answer, in seconds: the longest that any browser accepts.
  public static let preflightSeconds = 7_200

  private static let requestFields = [
    "X-Pubky-Pubkey", "X-Pubky-Timestamp", "X-Pubky-Signature", "X-Pubky-Version", "X-Pubky-Audience", "Authorization",
    "Content-Type",
  ]

  /// Pages of these origins; without any, only pages of the service's own origin.
  ///
  /// - Parameter origins: each in the form of ``isOrigin(_:)``, or ``all``.
  public init(_ origins: [String] = []) {
    self.origins = Set(origins)
    isForAll = origins.contains(Self.all)
  }

  /// Whether a text is an origin as browsers send it: a scheme, a host and perhaps a port, all in lower case, without a
  /// path, and without the scheme's default port. No browser would send another spelling.
  public static func isOrigin(_ text: String) -> Bool {
    guard text.utf8.count <= byteCountMaximum, let mark = text.firstRange(of: "://") else { return false }
    let scheme = text[..<mark.lowerBound]
    let authority = text[mark.upperBound...]
    guard let first = scheme.utf8.first, isLetter(first),
      scheme.utf8.allSatisfy({ isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) })
    else { return false }
    let (host, port) = hostAndPort(authority)
    guard isHost(host) else { return false }
    guard let port else { return true }
    let own = ["http": "80", "https": "443"][String(scheme)]
    return UInt16(port).map { $0 > 0 && "\($0)" == port } == true && String(port) != own
  }

  private static func hostAndPort(_ authority: Substring) -> (host: Substring, port: Substring?) {
    guard let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") else { return (authority, nil) }
    return (authority[..<colon], authority[authority.index(after: colon)...])
  }

  private static func isHost(_ host: Substring) -> Bool {
    if host.hasPrefix("["), host.hasSuffix("]") {
      let inner = host.dropFirst().dropLast().utf8
      return !inner.isEmpty && inner.allSatisfy { isDigit($0) || (0x61...0x66).contains($0) || ":.".utf8.contains($0) }
    }
    return !host.isEmpty && host.utf8.allSatisfy { isLetter($0) || isDigit($0) || "-._".utf8.contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  // MARK: Answers

  /// The header fields that an answer has in addition: none, unless the request comes from an allowed page.
  ///
  /// - Parameter request: the request's fields.
  public func fields(for request: [HeaderField]) -> [HeaderField] {
    guard let origin = allowed(request) else { return [] }
    // A page sees only this field, and some that all answers have.
    let shown = HeaderField("Access-Control-Expose-Headers", "Retry-After")
    guard !isForAll else { return [HeaderField("Access-Control-Allow-Origin", Self.all), shown] }
    return [HeaderField("Access-Control-Allow-Origin", origin), shown, HeaderField("Vary", "Origin")]
  }

  /// The header fields of the answer to `OPTIONS` beyond ``fields(for:)``; nil for a page that is not allowed.
  ///
  /// - Parameters:
  ///   - request: the request's fields.
  ///   - methods: the methods of the path.
  public func preflightFields(for request: [HeaderField], methods: [String]) -> [HeaderField]? {
    guard allowed(request) != nil else { return nil }
    return [
      HeaderField("Access-Control-Allow-Methods", methods.joined(separator: ", ")),
      HeaderField("Access-Control-Allow-Headers", Self.requestFields.joined(separator: ", ")),
      HeaderField("Access-Control-Max-Age", "\(Self.preflightSeconds)"),
    ]
  }

  private func allowed(_ request: [HeaderField]) -> String? {
    guard !origins.isEmpty else { return nil }
    let named = request.filter { $0.isNamed("origin") }
    guard named.count == 1, let origin = named.first?.value, isForAll || origins.contains(origin) else { return nil }
    return origin
  }
}
