internal import Cryptography

// Who may see the page. A loopback port has no file mode: every process of the machine reaches it, and so does every
// page in the user's browser. So three things are checked, each for itself:
//
//   the connecting process belongs to the user (asked of the kernel, not here)
//   the request names this page as its host and, at a WebSocket, as its origin      PageAddressing
//   the browser came in with an address that was used once, and has its cookie      PageDoor
//
// The secrets are in memory only, as hashes: a process that ends closes the page for every browser.

/// The invitations that were not used, and the browsers that are in. A value without a clock.
public struct PageDoor: Sendable {
  /// How long an address can be used, in seconds.
  public static let invitationSeconds: Int64 = 600
  /// How long a browser that asks for nothing stays in, in seconds.
  public static let sessionSeconds: Int64 = 43_200
  /// Addresses that wait; the oldest leaves for a new one.
  public static let invitationMaximum = 16
  /// Browsers that are in; the one that has asked for nothing for longest leaves for a new one.
  public static let sessionMaximum = 16
  /// Random bytes of a secret.
  static let secretByteCount = 32

  private var invitations: [Entry] = []
  private var sessions: [Entry] = []

  private struct Entry {
    let hash: [UInt8]
    var at: Int64
  }

  /// A door through which no browser came.
  public init() {}

  /// Makes the secret of an address.
  ///
  /// - Parameter now: seconds of a clock that does not jump.
  public mutating func invite(at now: Int64) -> String {
    drop(at: now)
    if invitations.count >= Self.invitationMaximum { invitations.removeFirst() }
    let secret = Self.makeSecret()
    invitations.append(Entry(hash: Self.hash(secret), at: now))
    return secret
  }

  /// Uses an invitation up; returns the secret of a cookie, nil when it is not known, or was used, or is too old.
  public mutating func enter(_ secret: some StringProtocol, at now: Int64) -> String? {
    drop(at: now)
    let hash = Self.hash(String(secret))
    guard let index = invitations.firstIndex(where: { Self.areEqual($0.hash, hash) }) else { return nil }
    invitations.remove(at: index)
    let oldest = sessions.indices.min { sessions[$0].at < sessions[$1].at }
    if sessions.count >= Self.sessionMaximum, let oldest { sessions.remove(at: oldest) }
    let cookie = Self.makeSecret()
    sessions.append(Entry(hash: Self.hash(cookie), at: now))
    return cookie
  }

  /// Whether a browser with this cookie is in; it stays for another while.
  public mutating func isInside(_ cookie: some StringProtocol, at now: Int64) -> Bool {
    drop(at: now)
    let hash = Self.hash(String(cookie))
    guard let index = sessions.firstIndex(where: { Self.areEqual($0.hash, hash) }) else { return false }
    sessions[index].at = now
    return true
  }

  private mutating func drop(at now: Int64) {
    invitations.removeAll { now - $0.at >= Self.invitationSeconds }
    sessions.removeAll { now - $0.at >= Self.sessionSeconds }
  }

  private static func makeSecret() -> String { Base64URL.text(of: RandomBytes.make(secretByteCount)) }

  private static func hash(_ text: String) -> [UInt8] { SHA256.hash(Array(text.utf8)).bytes }

  private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in right.withUnsafeBytes { ConstantTime.areEqual(left, $0) } }
  }
}
