public import WebSocket

/// The place of the page, and what requests say of it.
public struct PageAddressing: Sendable {
  /// The host and port, as a browser names them: `127.0.0.1:4868`, `[::1]:4868`.
  public let authority: String

  /// The cookie that a browser has. Cookies do not differ by port, so the port is in its name.
  public let cookieName: String

  /// A place of this host and port.
  public init(host: String, port: UInt16) {
    authority = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    cookieName = "roost-links-\(port)"
  }

  /// The address of the page.
  public var origin: String { "http://\(authority)" }

  /// Whether the request names the page itself: a page of the internet whose name resolves to this machine sends its
  /// own name.
  public func isOurs(_ head: HTTPRequestHead) -> Bool { head.host.lowercased() == authority }

  /// Whether a WebSocket is asked for by the page itself. A browser always says which page asks.
  public func isFromPage(_ head: HTTPRequestHead) -> Bool { head.values(of: "origin") == [origin] }

  /// The secrets of the browser's cookies of this name, the first ``cookieMaximum``: another server on this machine can
  /// give it one too, and must not lock it out by that.
  public func cookies(in head: HTTPRequestHead) -> [String] {
    let found = head.values(of: "cookie").flatMap { $0.split(separator: ";") }.lazy.compactMap { pair -> String? in
      let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return parts.count == 2 && parts[0] == cookieName ? String(parts[1]) : nil
    }
    return Array(found.prefix(Self.cookieMaximum))
  }

  /// Cookies of one request that are looked at.
  public static let cookieMaximum = 8

  /// The field that gives a browser its cookie. It ends with the browser.
  public func setCookie(_ secret: String) -> HTTPField {
    HTTPField("Set-Cookie", "\(cookieName)=\(secret); Path=/; HttpOnly; SameSite=Strict")
  }

  /// Hosts of the official embeds.
  static let embedHosts = [
    "www.tiktok.com", "www.instagram.com", "www.facebook.com", "fixupx.com", "www.youtube-nocookie.com", "rumble.com",
  ]

  /// The fields of every answer: no script but our own, nothing of another machine but a video or a provider's player
  /// after a click, and no page around ours.
  public var fields: [HTTPField] {
    let frames = Self.embedHosts.map { "https://\($0)" }.joined(separator: " ")
    let policy = [
      "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:",
      "connect-src 'self' ws://\(authority)", "media-src https:", "frame-src \(frames)", "base-uri 'none'",
      "form-action 'none'", "frame-ancestors 'none'",
    ]
    return [
      HTTPField("Content-Security-Policy", policy.joined(separator: "; ")),
      HTTPField("Referrer-Policy", "no-referrer"), HTTPField("X-Content-Type-Options", "nosniff"),
      HTTPField("Cross-Origin-Opener-Policy", "same-origin"), HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
      HTTPField("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
      HTTPField("Cache-Control", "no-store"),
    ]
  }
}
