public import Clocks

/// One-time tokens for workers started by hand: each is valid for one HELLO of one role within ten minutes.
///
/// The text is 128 random bits. Tokens are few and short-lived, and are kept in memory only: a restarted supervisor
/// knows none of the earlier ones.
public struct AttachTokens: Sendable {
  /// What a token grants.
  public struct Ticket: Sendable, Equatable {
    /// The role to join as.
    public let role: String
    /// The name to join under.
    public let name: String
    let expires: Instant
  }
  /// A token as handed out.
  public struct Token: Sendable, Equatable {
    /// What goes into HELLO.
    public let text: String
    /// What it grants.
    public let ticket: Ticket
  }
  /// Why a token is refused.
  public enum Problem: Error, Sendable, Equatable, CustomStringConvertible {
    /// Never issued, used already, or forgotten.
    case unknown
    /// Too old.
    case expired
    /// Issued for another role.
    case otherRole(String)

    /// A sentence.
    public var description: String {
      switch self {
      case .unknown: "the token was never issued, or was used already; 'roost attach' prints a new one"
      case .expired: "the token has expired; 'roost attach' prints a new one"
      case .otherRole(let role): "the token is for role '\(role)'"
      }
    }
  }

  private var tickets: [String: Ticket] = [:]
  private var order: [String] = []

  /// How long a token is valid.
  public static let lifetimeMilliseconds: UInt64 = 600_000
  /// The maximum number of outstanding tokens; one more displaces the oldest.
  public static let countMaximum = 64

  /// No tokens.
  public init() {}

  /// Issues a token.
  public mutating func issue(
    role: String, name: String, now: Instant, random: inout some RandomNumberGenerator
  ) -> Token {
    let text = Self.hexadecimal(random.next()) + Self.hexadecimal(random.next())
    let ticket = Ticket(role: role, name: name, expires: now.advanced(milliseconds: Self.lifetimeMilliseconds))
    tickets[text] = ticket
    order.append(text)
    if order.count > Self.countMaximum { tickets[order.removeFirst()] = nil }
    return Token(text: text, ticket: ticket)
  }

  /// Takes a token; it is used up even if it is refused.
  public mutating func redeem(_ text: String, role: String, now: Instant) throws(Problem) -> Ticket {
    guard let ticket = tickets.removeValue(forKey: text) else { throw .unknown }
    order.removeAll { $0 == text }
    guard now < ticket.expires else { throw .expired }
    guard ticket.role == role else { throw .otherRole(ticket.role) }
    return ticket
  }

  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
