internal import Addresses
internal import Cryptography
internal import Frames
public import PushDelivery

// The three forms of a push token. A correct form proves nothing. But a check of the form finds a token of another
// platform, a truncated one or one with a newline before it goes to the platform, which would refuse it without that
// reason.

extension PushToken {
  /// Most characters of an endpoint.
  public static let endpointCharacterCountMaximum = 2_048

  /// Reads the token of a registration.
  init(_ body: RequestBody, platform: PushPlatform, allowsPrivateEndpoints: Bool) throws(PushRefusal) {
    switch platform {
    case .ios: self = try Self.readApple(body.requiredToken())
    case .android: self = try Self.readGoogle(body.requiredToken())
    case .webPush: self = try Self.readWeb(body, allowsPrivateEndpoints: allowsPrivateEndpoints)
    }
  }

  private static func readApple(_ text: String) throws(PushRefusal) -> PushToken {
    guard (64...200).contains(text.utf8.count), let bytes = Hexadecimal.decode(text.lowercased().utf8) else {
      throw .token("'token' is no APNs token: 64 to 200 hexadecimal digits, an even number of them")
    }
    return .apple(bytes)
  }

  private static func readGoogle(_ text: String) throws(PushRefusal) -> PushToken {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
      default: false
      }
    }
    guard (32...4_096).contains(text.utf8.count), isPlain else {
      throw .token("'token' is no FCM token: 32 to 4096 characters of A-Z, a-z, 0-9, ':', '_' and '-'")
    }
    return .google(text)
  }

  // MARK: Web Push

  /// A subscription as browsers give it: in `token`, as an object or as its text, or as fields of the body; the two
  /// keys beside the endpoint or in `keys`.
  private static func readWeb(_ body: RequestBody, allowsPrivateEndpoints: Bool) throws(PushRefusal) -> PushToken {
    let subscription = try subscription(body)
    let keys = if case .object(let members)? = subscription["keys"] { members } else { subscription }
    guard case .string(let endpoint)? = subscription["endpoint"] else {
      throw .token("the Web Push subscription has no 'endpoint'")
    }
    if let flaw = WebPushEndpoint.flaw(of: endpoint, allowsPrivateEndpoints: allowsPrivateEndpoints) {
      throw .token("'endpoint' \(flaw)")
    }
    guard case .string(let text)? = keys["p256dh"], let publicKey = Base64URL.bytes(text), P256.isPublicKey(publicKey)
    else { throw .token("'p256dh' is no P-256 key: 65 bytes in base64url without padding") }
    guard case .string(let text)? = keys["auth"], let authentication = Base64URL.bytes(text), authentication.count == 16
    else { throw .token("'auth' is not 16 bytes in base64url without padding") }
    return .web(endpoint: endpoint, publicKey: publicKey, authentication: authentication)
  }

  private static func subscription(_ body: RequestBody) throws(PushRefusal) -> [String: JSONValue] {
    switch body.present("token") {
    case nil: return body.members
    case .object(let members): return members
    case .string(let text):
      do { return try RequestBody(Array(text.utf8)).members } catch {
        throw .token("'token' is no Web Push subscription: an object with 'endpoint', 'p256dh' and 'auth'")
      }
    default: throw .token("'token' is neither a text nor an object")
    }
  }
}

extension RequestBody {
  fileprivate func requiredToken() throws(PushRefusal) -> String {
    guard let value = present("token") else { throw .token("'token' is missing") }
    guard case .string(let text) = value else { throw .token("'token' is not a text") }
    return text
  }
}

extension PushRefusal {
  fileprivate static func token(_ message: String) -> PushRefusal { PushRefusal(.invalidToken, message) }
}

/// The address of a Web Push service, which the registering client chooses and the relay connects to.
///
/// So everything that the text alone shows is refused here: another scheme, a name and password, a private address, and
/// numbers that some programs take for an address (`https://2130706433/`). The courier checks the addresses of a name
/// at each connection.
enum WebPushEndpoint {
  /// What is wrong with an endpoint, as the end of a sentence; nil if it is valid.
  static func flaw(of endpoint: String, allowsPrivateEndpoints: Bool) -> String? {
    guard endpoint.utf8.count <= PushToken.endpointCharacterCountMaximum else {
      return "is longer than \(PushToken.endpointCharacterCountMaximum) characters"
    }
    guard endpoint.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !Array(#"\"<>^`{|}"#.utf8).contains($0) }) else {
      return "has characters that no URL has"
    }
    let scheme = "https://"
    guard endpoint.lowercased().hasPrefix(scheme) else { return "does not begin with https://" }
    let rest = endpoint.utf8.dropFirst(scheme.utf8.count)
    let authority = String(Substring(rest.prefix { !Array("/?#".utf8).contains($0) }))
    if endpoint.contains("#") { return "has a fragment" }
    if authority.contains("@") { return "has a user's name in it" }
    guard let (host, port) = hostAndPort(authority) else { return "has no host, or no valid port" }
    if let port, !(1...65_535).contains(port) { return "has no valid port" }
    return flaw(ofHost: host, allowsPrivateEndpoints: allowsPrivateEndpoints)
  }

  private static func hostAndPort(_ authority: String) -> (host: String, port: Int?)? {
    var host = authority
    var port: Int?
    let lastColon = authority.lastIndex(of: ":")
    if let lastColon, authority.hasSuffix("]") == false {
      let digits = authority[authority.index(after: lastColon)...]
      guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        return nil
      }
      port = Int(digits)
      host = String(authority[..<lastColon])
    }
    return host.isEmpty || host.utf8.count > 253 + 2 ? nil : (host, port)
  }

  private static func flaw(ofHost host: String, allowsPrivateEndpoints: Bool) -> String? {
    if host.hasPrefix("[") || host.contains(":") {
      guard host.hasPrefix("["), host.hasSuffix("]"), let address = IPAddress(String(host.dropFirst().dropLast())),
        address.isVersion6
      else { return "has no valid address" }
      return flaw(of: address, allowsPrivateEndpoints)
    }
    let isName = host.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
      default: false
      }
    }
    let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    let inner = labels.last == "" ? labels.dropLast() : labels[...]
    guard isName, let last = inner.last, inner.allSatisfy({ (1...63).contains($0.utf8.count) }) else {
      return "has a host that is no name"
    }
    if let address = IPAddress(host) { return flaw(of: address, allowsPrivateEndpoints) }
    // Resolvers take a name that ends in a number for an address, each in its own way.
    if last.allSatisfy(\.isNumber) || last.hasPrefix("0x") { return "has an address in a form that has no one meaning" }
    if last == "localhost", !allowsPrivateEndpoints { return "leads to this machine" }
    return nil
  }

  private static func flaw(of address: IPAddress, _ allowsPrivateEndpoints: Bool) -> String? {
    if allowsPrivateEndpoints || address.scope == .global { return nil }
    return "leads to an address that is not everybody's (\(address.scope.rawValue))"
  }
}
