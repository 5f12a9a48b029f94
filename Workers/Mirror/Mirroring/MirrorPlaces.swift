public import Addresses

/// Where an account's events may be beside the relays that the planner chooses: its lists change, and relays that an
/// older list named still have what was written then.
public struct MirrorPlaces: Hashable, Sendable {
  /// The relays that any of its lists of relays (kind 10002) has named.
  public var listed: [RelayURL] = []
  /// The relays that any of its lists of relays for direct messages (kind 10050) has named.
  public var inboxes: [RelayURL] = []
  /// The relays of its present list of relays for direct messages.
  public var presentInboxes: [RelayURL] = []
  /// Where it reads what others write to it, by its present list.
  public var reads: [RelayURL] = []
  /// Relays that have sent its events, those that sent the most first. Strangers may be the only ones who name them.
  public var seen: [ForeignRelayURL] = []

  /// The most relays of past lists that are asked.
  static let listedMaximum = 16
  /// The most relays where events were seen that are asked.
  static let seenMaximum = 16

  /// No places are known.
  public init() {}

  /// Relays to ask for what is public. In the order of their URLs, so that the same ones are the same question.
  var forPublic: [RelayURL] { Self.some(listed, Self.listedMaximum) }

  /// The only relays to ask for gift wraps: where the account ever received them, or, if it never said so, where it
  /// reads. Empty: no list is known.
  var forWraps: [RelayURL] {
    let relays = Self.some(inboxes, Self.listedMaximum)
    return relays.isEmpty ? Self.some(reads, Self.listedMaximum) : relays
  }

  /// The only relays that are asked for new gift wraps. Past lists have none: no connection is kept for them.
  var forNewWraps: [RelayURL] { inboxes.isEmpty && presentInboxes.isEmpty ? forWraps : presentInboxes }

  /// Relays to ask for what is public that only strangers may name.
  var foreign: [ForeignRelayURL] {
    seen.filter { !listed.contains($0.url) }.prefix(Self.seenMaximum).sorted { $0.url.text < $1.url.text }
  }

  /// All of them, for an account of which only the public key is here: its lists may be a stranger's.
  var allForeign: [ForeignRelayURL] { foreign + forPublic.map { ForeignRelayURL($0) } }

  private static func some(_ relays: [RelayURL], _ maximum: Int) -> [RelayURL] {
    relays.prefix(maximum).sorted { $0.text < $1.text }
  }
}
