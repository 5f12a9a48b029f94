internal import Cryptography

// The route of a request, which depends only on the bytes of its target.
//
// The path is signed, so each path has one spelling: `/v1/wake/`, `/v1//wake`, `/v1/./wake` and `/v1/%77ake` are no
// routes here, whatever a web framework would make of them. The clients in the field sign the path below the mount
// (`/wake`), although they request `/v1/wake`; a mount may also accept signatures over the whole path.

/// Where the routes begin, and which paths may be signed.
public struct PushMount: Hashable, Sendable {
  /// What precedes every route: `/v1`, or empty.
  public let prefix: String
  /// Whether a signature over the path with the prefix is accepted, too.
  public let acceptsPrefixedSignatures: Bool

  /// A mount; `prefix` is empty, or begins with `/` and does not end with it.
  public init(prefix: String = "/v1", acceptsPrefixedSignatures: Bool = false) {
    precondition(prefix.isEmpty || prefix.hasPrefix("/") && !prefix.hasSuffix("/"), "a mount is empty or like /v1")
    self.prefix = prefix
    self.acceptsPrefixedSignatures = acceptsPrefixedSignatures
  }
}

/// The purpose of a request.
public enum PushRoute: Hashable, Sendable {
  /// `POST /register`: a device, for the first time or again, or the answer to a challenge.
  case register
  /// `DELETE /register`, and `POST /unregister` for clients whose proxy drops the body of a DELETE.
  case unregister
  /// `POST /wake`.
  case wake
  /// `GET /wake/{id}`, signed by the wake's sender: 16 bytes, in the path 32 lower-case hexadecimal digits.
  case wakeStatus(id: [UInt8])
  /// `GET /contacts`.
  case readContacts
  /// `PUT /contacts`.
  case writeContacts
  /// `GET /rules`: which events of Nostr wake the owner.
  case readRules
  /// `PUT /rules`.
  case writeRules
  /// `GET /info`: what a client should know before it signs.
  case info
  /// `GET /health`: the process lives.
  case health
  /// `GET /ready`: which platforms can be reached.
  case ready
  /// `GET /openapi.json`.
  case openAPI

  /// Whether a request for this route must be signed.
  public var isSigned: Bool {
    switch self {
    case .register, .unregister, .wake, .wakeStatus, .readContacts, .writeContacts, .readRules, .writeRules: true
    case .info, .health, .ready, .openAPI: false
    }
  }

  /// Whether the route accepts the signature of a Nostr key (NIP-98). Waking others needs a Pubky key.
  public var takesNostrKeys: Bool {
    switch self {
    case .register, .unregister, .readContacts, .writeContacts, .readRules, .writeRules: true
    case .wake, .wakeStatus, .info, .health, .ready, .openAPI: false
    }
  }

  /// Most bytes of a body of lists: 2,000 keys of Nostr with commas and spaces are 136,000; the largest rules, with
  /// every letter of their words escaped, are 153,000.
  public static let listByteCountMaximum = 160 << 10

  /// Most bytes of a body.
  public var bodyByteCountMaximum: Int {
    switch self {
    case .writeContacts, .writeRules: Self.listByteCountMaximum
    case .register, .unregister, .wake: RequestBody.byteCountMaximum
    case .wakeStatus, .readContacts, .readRules, .info, .health, .ready, .openAPI: 0
    }
  }
}

/// A request's method and target.
public struct PushTarget: Hashable, Sendable {
  /// The route.
  public let route: PushRoute
  /// The method, as it is signed.
  public let method: String
  /// The paths that may have been signed, the usual one first. With the query, if there is one.
  public let signedPaths: [String]
  /// `DELETE /register?…` only: the text after the question mark, as received.
  public let query: String?

  /// Most bytes of a target. A query names a device of at most 128 bytes, each as `%XX`.
  public static let byteCountMaximum = 512

  /// Finds the route of a raw request target (`/v1/wake`). A route with GET also has HEAD.
  ///
  /// - Throws: `not_found`; `method_not_allowed` with the methods of the path.
  public init(method: String, target: String, mount: PushMount = PushMount()) throws(PushRefusal) {
    guard target.utf8.count <= Self.byteCountMaximum, Self.begins(target, with: mount.prefix) else {
      throw Self.notFound(mount)
    }
    let below = String(Substring(target.utf8.dropFirst(mount.prefix.utf8.count)))
    let parts = below.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let path = String(Substring(parts.first ?? below.utf8[...]))
    let query = parts.count > 1 ? String(Substring(parts[1])) : nil
    let routes = Self.routes(below: path)
    // Only one path reads a query; on the others a signed query would have no effect.
    if routes.isEmpty || query != nil && path != Self.registerPath { throw Self.notFound(mount) }
    // HEAD is GET without the body of the answer (RFC 9110, 9.3.2), and is signed as HEAD.
    guard let route = routes.first(where: { $0.method == (method == "HEAD" ? "GET" : method) })?.route else {
      let allow = routes.flatMap { $0.method == "GET" ? ["GET", "HEAD"] : [$0.method] }
      throw PushRefusal(
        .methodNotAllowed, "\(mount.prefix)\(path) takes \(allow.joined(separator: ", ")) only", allow: allow)
    }
    if query != nil, route != .unregister { throw Self.notFound(mount) }
    self.route = route
    self.method = method
    self.query = query
    signedPaths = mount.acceptsPrefixedSignatures && !mount.prefix.isEmpty ? [below, target] : [below]
  }

  private static let registerPath = "/register"

  /// Compares bytes: Swift calls some texts equal that differ in their bytes.
  private static func begins(_ target: String, with prefix: String) -> Bool {
    target.utf8.starts(with: prefix.utf8) && target.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  private static func notFound(_ mount: PushMount) -> PushRefusal {
    PushRefusal(
      .notFound,
      "there is no such path here: the paths are in \(mount.prefix)/openapi.json, and each is written as "
        + "it is there, without a slash after it")
  }

  /// The methods and routes of a path; empty for an unknown path.
  private static func routes(below path: String) -> [(method: String, route: PushRoute)] {
    switch path {
    case registerPath: return [("POST", .register), ("DELETE", .unregister)]
    case "/unregister": return [("POST", .unregister)]
    case "/wake": return [("POST", .wake)]
    case "/contacts": return [("GET", .readContacts), ("PUT", .writeContacts)]
    case "/rules": return [("GET", .readRules), ("PUT", .writeRules)]
    case "/info": return [("GET", .info)]
    case "/health": return [("GET", .health)]
    case "/ready": return [("GET", .ready)]
    case "/openapi.json": return [("GET", .openAPI)]
    default:
      let prefix = "/wake/"
      guard path.utf8.starts(with: prefix.utf8), path.utf8.count == prefix.utf8.count + 32,
        let id = Hexadecimal.decode(path.utf8.dropFirst(prefix.utf8.count))
      else { return [] }
      return [("GET", .wakeStatus(id: id))]
    }
  }
}
