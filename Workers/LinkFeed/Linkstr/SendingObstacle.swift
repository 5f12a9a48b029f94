public import Contracts

// A post is sent when a relay that takes events is connected, or can be dialled at once (`SendingState`). Which relays
// are asked is the caller's: those of the recipient's list, or those the user has named for a contact.

/// Why a post cannot be sent now.
public enum SendingObstacle: Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// No relay is enabled.
  case noRelays
  /// All relays that are connected take no events.
  case readOnly
  /// A relay is being dialled.
  case reconnecting
  /// No relay can be reached.
  case offline

  /// The obstacle in a state of the relays; nil if a post can be sent.
  public init?(_ state: SendingState) {
    switch state {
    case .noRelays: self = .noRelays
    case .readOnly: self = .readOnly
    case .reconnecting: self = .reconnecting
    case .offline: self = .offline
    case .idle, .online: return nil
    }
  }

  /// Whether it goes away by waiting. For the others a person has to change something, so a post is refused at once.
  public var isTemporary: Bool { self == .reconnecting || self == .offline }

  /// A sentence in the user's words, without a full stop.
  public var description: String {
    switch self {
    case .noRelays: "no relay is enabled: 'roost relay add URL' adds one"
    case .readOnly: "no relay in reach is used for events: 'roost relay list' shows what each is used for"
    case .reconnecting: "the relays are being reconnected: it is sent as soon as one is connected"
    case .offline: "no relay can be reached: 'roost relay list' says why"
    }
  }
}
