internal import Frames

// What a new account would publish: a profile, and its lists of relays. The lists are short: all who read the
// account ask each of these relays.

/// What `roost account new` proposes.
public struct AccountProposal: Sendable, Hashable {
  /// A relay of the configuration.
  public struct Relay: Sendable, Hashable {
    /// Its URL.
    public var url: String
    /// Whether subscriptions are opened there.
    public var reads: Bool
    /// Whether events are published there.
    public var writes: Bool

    /// A relay.
    public init(url: String, reads: Bool, writes: Bool) { (self.url, self.reads, self.writes) = (url, reads, writes) }
  }
  /// An event that is not signed.
  public struct Draft: Codable, Sendable, Hashable {
    /// The kind.
    public var kind: UInt16
    /// The content.
    public var content: String
    /// The tags.
    public var tags: [[String]]
  }

  /// The most relays in the list of relays (NIP-65 advises two to four of each kind).
  public static let relayMaximum = 4
  /// The most relays for messages (NIP-17 advises one to three).
  public static let messageRelayMaximum = 3
  /// Longest name, in characters.
  public static let nameMaximum = 100

  /// The events: the lists of relays first, so that the profile goes where they say.
  public let drafts: [Draft]
  /// The name in the profile; empty: no profile.
  public let name: String

  /// A proposal.
  ///
  /// - Parameters:
  ///   - name: the name in the profile; empty: no profile.
  ///   - relays: the relays of the configuration, in its order.
  public init(name: String, relays: [Relay]) {
    self.name = name
    var drafts: [Draft] = []
    // Relays of a network that only this machine reaches would be useless to others, and are used without a list.
    let used = relays.filter { $0.reads || $0.writes }.prefix(Self.relayMaximum)
    if !used.isEmpty {
      let tags = used.map { relay -> [String] in
        if relay.reads && relay.writes { return ["r", relay.url] }
        return ["r", relay.url, relay.reads ? "read" : "write"]
      }
      drafts.append(Draft(kind: 10_002, content: "", tags: Array(tags)))
    }
    let inboxes = relays.filter(\.reads).prefix(Self.messageRelayMaximum)
    if !inboxes.isEmpty {
      drafts.append(Draft(kind: 10_050, content: "", tags: inboxes.map { ["relay", $0.url] }))
    }
    if !name.isEmpty {
      let content = JSONPayload.encode(JSONValue.object(["name": .string(name)]))
      drafts.append(Draft(kind: 0, content: String(decoding: content, as: UTF8.self), tags: []))
    }
    self.drafts = drafts
  }

  /// Why a text cannot be a profile's name, as a sentence; nil if it can.
  public static func flaw(inName name: String) -> String? {
    if name.count > nameMaximum { return "A name has at most \(nameMaximum) characters." }
    if name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      return "A name has no control characters."
    }
    if name.lowercased().hasPrefix("nsec1") {
      return "That is a secret key, and a profile is public. Regard it as exposed."
    }
    return nil
  }
}
