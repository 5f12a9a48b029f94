public import Addresses
public import Contracts
public import Cryptography
public import Nostr

/// One relay that was chosen for something, and all that whoever goes there must know.
public struct RelayChoice: Hashable, Sendable {
  /// The relay.
  public let url: RelayURL
  /// Why this one, each reason once: `alice's list`, `configured`, `added`, `dm-list of npub1…`, `named`. Of a relay
  /// that is not used: why not.
  public var why: [String]
  /// For whom: those who are to find it there. Empty: for all.
  public var people: [PublicKey]
  /// Which of our accounts shows itself if the relay asks for it (NIP-42); nobody when nil.
  public var account: PublicKey?
  /// Whether only other people name it: it is not dialled at a private address.
  public var isForeign: Bool
  /// The event goes only over a connection on which `account` has shown itself (NIP-70).
  public var isProtected: Bool
  /// The worker that dials it; nil when there is none at present.
  public var connector: String?
  /// No group of `supervisor.conf` has it: dialling it counts against the ``DialBudget``.
  var isOutside: Bool

  /// A choice.
  public init(
    _ url: RelayURL, why: [String], people: [PublicKey] = [], account: PublicKey? = nil, isForeign: Bool,
    isProtected: Bool = false, connector: String? = nil, isOutside: Bool = false
  ) {
    self.url = url
    self.why = why
    self.people = people
    self.account = account
    self.isForeign = isForeign
    self.isProtected = isProtected
    self.connector = connector
    self.isOutside = isOutside
  }

  /// The reasons in one line, as in `PublicationTarget.why`.
  public var reason: String { why.joined(separator: ", ") }

  /// As `plan.route` tells it.
  ///
  /// - Parameter state: how its connection is, as in `relay.list`.
  public func stop(state: RelayStateWord? = nil) -> Route.Stop {
    Route.Stop(relay: url.text, why: why, people: people.map(\.description), connector: connector, state: state)
  }
}

/// Why there is no relay to go to. Its text is what a caller reads.
public struct NoRoute: Error, Hashable, Sendable, CustomStringConvertible {
  /// A sentence without a full stop: `npub1… has no list of relays for direct messages (kind 10050)`.
  public let description: String
  /// Whether looking for the recipient's list and asking again may help.
  public var missingList: PublicKey?

  /// A reason.
  public init(_ description: String, missingList: PublicKey? = nil) {
    self.description = description
    self.missingList = missingList
  }
}

/// Where an event is to be sent.
public struct EventRoute: Hashable, Sendable {
  /// The relays; empty if and only if there is a problem.
  public var choices: [RelayChoice] = []
  /// Relays that would have been meant and are not used; their `why` says why not.
  public var skipped: [RelayChoice] = []
  /// Why there is none.
  public var problem: NoRoute?
}

/// Where filters are to be asked.
public struct FilterRoute: Hashable, Sendable {
  /// A relay and what it is asked.
  public struct Stop: Hashable, Sendable {
    /// The relay.
    public var choice: RelayChoice
    /// Those of the filters that it is asked, at least one.
    public var filters: [Filter]

    /// A relay and what it is asked.
    public init(_ choice: RelayChoice, _ filters: [Filter]) {
      self.choice = choice
      self.filters = filters
    }
  }
  /// The relays, in the order of their URLs.
  public var stops: [Stop] = []
  /// Relays that would have been meant and are not asked; their `why` says why not.
  public var skipped: [RelayChoice] = []
  /// Why there is none, if so.
  public var problem: NoRoute?
}

/// Choices in the order in which they were made, each relay once.
struct ChoiceList {
  private(set) var choices: [RelayChoice] = []
  private var places: [RelayURL: Int] = [:]

  /// Adds a choice. If the relay was chosen already, the reasons come together; what one of two trusts is trusted.
  mutating func add(_ choice: RelayChoice) {
    guard let place = places[choice.url] else {
      places[choice.url] = choices.count
      choices.append(choice)
      return
    }
    choices[place].why += choice.why.filter { !choices[place].why.contains($0) }
    choices[place].people += choice.people.filter { !choices[place].people.contains($0) }
    choices[place].account = choices[place].account ?? choice.account
    choices[place].isForeign = choices[place].isForeign && choice.isForeign
  }
}
