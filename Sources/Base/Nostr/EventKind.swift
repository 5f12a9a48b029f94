public import JSON

/// Which events of a kind are kept (NIP-01).
public enum KindClass: Hashable, Sendable {
  /// All of them.
  case regular
  /// The newest one of each author.
  case replaceable
  /// The newest one of each author for each value of the tag `d`.
  case addressable
  /// None: they are passed on, but not stored.
  case ephemeral

  /// The class of a kind. Kinds outside of NIP-01's ranges are regular.
  @inline(__always)
  public init(_ kind: UInt16) {
    switch kind {
    case 0, 3, 10_000..<20_000: self = .replaceable
    case 20_000..<30_000: self = .ephemeral
    case 30_000..<40_000: self = .addressable
    default: self = .regular
    }
  }
}

/// The numbers of the kinds that Roost knows by name. Everywhere a kind is a plain number: most kinds belong to other
/// programs.
public enum EventKind {
  /// A profile (NIP-01, NIP-24).
  public static let metadata: UInt16 = 0
  /// A short text (NIP-10).
  public static let textNote: UInt16 = 1
  /// A follow list (NIP-02).
  public static let follows: UInt16 = 3
  /// An encrypted message (NIP-04).
  public static let encryptedDirectMessage: UInt16 = 4
  /// A request to delete (NIP-09).
  public static let deletion: UInt16 = 5
  /// A repost of a text (NIP-18).
  public static let repost: UInt16 = 6
  /// A reaction (NIP-25).
  public static let reaction: UInt16 = 7
  /// A sealed rumor (NIP-59).
  public static let seal: UInt16 = 13
  /// A private message, always a rumor (NIP-17).
  public static let privateMessage: UInt16 = 14
  /// A private file, always a rumor (NIP-17).
  public static let privateFile: UInt16 = 15
  /// A reaction to something outside Nostr (NIP-25).
  public static let externalReaction: UInt16 = 17
  /// A repost of anything else (NIP-18).
  public static let genericRepost: UInt16 = 16
  /// A request to vanish (NIP-62).
  public static let vanish: UInt16 = 62
  /// A gift wrap (NIP-59).
  public static let giftWrap: UInt16 = 1_059
  /// A comment (NIP-22).
  public static let comment: UInt16 = 1_111
  /// A report (NIP-56).
  public static let report: UInt16 = 1_984
  /// A request for a zap (NIP-57).
  public static let zapRequest: UInt16 = 9_734
  /// A receipt for a zap (NIP-57).
  public static let zapReceipt: UInt16 = 9_735
  /// A list of muted keys and words (NIP-51).
  public static let mutes: UInt16 = 10_000
  /// A relay list: where an author writes and reads (NIP-65).
  public static let relayList: UInt16 = 10_002
  /// Relays that must never be connected to (NIP-51).
  public static let blockedRelays: UInt16 = 10_006
  /// Relays to search in (NIP-51).
  public static let searchRelays: UInt16 = 10_007
  /// Relays for one's own private events (NIP-37, NIP-51); their list is encrypted.
  public static let privateRelays: UInt16 = 10_013
  /// Relays that receive the author's private messages (NIP-17).
  public static let directMessageRelays: UInt16 = 10_050
  /// An ephemeral kind that no NIP uses: an event to test how a relay responds.
  public static let probe: UInt16 = 20_070
  /// A gift wrap that must not be stored (NIP-59).
  public static let ephemeralGiftWrap: UInt16 = 21_059
  /// The kinds that only the recipient may see (NIP-59).
  public static let giftWraps: Set<UInt16> = [giftWrap, ephemeralGiftWrap]

  /// Whether the kinds that a deletion names in its tags `k` (NIP-09) are gift wraps and nothing else.
  public static func areGiftWraps(_ kinds: [String]) -> Bool {
    !kinds.isEmpty && kinds.allSatisfy { UInt16($0).map(giftWraps.contains) ?? false }
  }

  /// The answer to a relay's challenge (NIP-42).
  public static let relayAuthentication: UInt16 = 22_242
  /// A request to a remote signer, or its answer (NIP-46).
  public static let remoteSigning: UInt16 = 24_133
  /// Replaces a password in the header of an HTTP request (NIP-98).
  public static let httpAuthorization: UInt16 = 27_235
  /// A set of people, of which an author may have several (NIP-51).
  public static let peopleSet: UInt16 = 30_000
  /// An article (NIP-23).
  public static let article: UInt16 = 30_023
  /// A program that handles some kinds, such as a provider of jobs (NIP-89).
  public static let handlerInformation: UInt16 = 31_990
  /// What a monitor found out about a relay (NIP-66); addressable by the relay's URL.
  public static let relayDiscovery: UInt16 = 30_166

  /// Requests for jobs (NIP-90).
  public static let jobRequests: ClosedRange<UInt16> = 5_000...5_999
  /// Results of jobs; each kind is that of the request plus 1,000 (NIP-90).
  public static let jobResults: ClosedRange<UInt16> = 6_000...6_999
  /// What a provider sends before the result (NIP-90).
  public static let jobFeedback: UInt16 = 7_000
}

/// Why an event does not contain what its kind requires.
public enum KindFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// An event of another kind.
  case wrongKind(UInt16, expected: [UInt16])
  /// No usable tag of this name, which the kind needs.
  case missingTag(String)
  /// The content is not the JSON object it must be.
  case badContent(JSONFault)
  /// The content has more bytes than are read.
  case contentTooLarge(byteCount: Int, maximum: Int)

  /// A sentence: `an event of kind 1 where kind 10002 was expected`.
  public var description: String {
    switch self {
    case .wrongKind(let kind, let expected):
      "an event of kind \(kind) where kind \(expected.map(String.init).joined(separator: " or ")) was expected"
    case .missingTag(let name): "the event has no tag \"\(name)\" that can be used"
    case .badContent(let fault): "the event's content is not what its kind promises: \(fault)"
    case .contentTooLarge(let count, let maximum):
      "the event's content has \(count) bytes, and at most \(maximum) are looked at"
    }
  }

  static func expect(_ expected: UInt16..., of kind: UInt16) throws(KindFault) {
    guard expected.contains(kind) else { throw .wrongKind(kind, expected: expected) }
  }
}
