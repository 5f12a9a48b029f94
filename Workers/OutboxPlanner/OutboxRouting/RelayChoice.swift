public import Addresses
public import Contracts
public import Cryptography
public import Nostr

/// One chosen relay, with what a connector needs to use it.
public struct RelayChoice: Hashable, Sendable {
  /// The relay.
  public let url: RelayURL
  /// Why this relay was chosen, each reason once: `alice's list`, `configured`, `added`, `dm-list of npub1…`, `named`.
  /// For a skipped relay: why it was skipped.
  public var why: [String]
  /// The recipients that this relay serves; empty: all.
  public var people: [PublicKey]
  /// Our account that authenticates if the relay demands it (NIP-42); nil: no account does.
  public var account: PublicKey?
  /// Whether only others name it (foreign): it is not dialled at a private address.
  public var isForeign: Bool
  /// The event goes only over a connection on which `account` has authenticated (NIP-70).
  public var isProtected: Bool
  /// The worker that dials it; nil when no worker does at present.
  public var connector: String?
  /// No group of `supervisor.conf` has it: its connector has a budget for dialling it.
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

  /// The reason of a relay that the caller names.
  public static let isNamed = PublicationTarget.namedReason

  /// The reasons in one line, as in `PublicationTarget.why`.
  public var reason: String { why.joined(separator: ", ") }

  /// This choice as a stop of `plan.route`.
  ///
  /// - Parameter state: the state of its connection, as in `relay.list`.
  public func stop(state: RelayStateWord? = nil) -> Route.Stop {
    Route.Stop(relay: url.text, why: why, people: people.map(\.description), connector: connector, state: state)
  }
}

/// Why no relay is used. The caller receives this text.
public struct NoRoute: Error, Hashable, Sendable, CustomStringConvertible {
  /// A sentence without a full stop: `npub1… has no list of relays for direct messages (kind 10050)`.
  public let description: String
  /// The recipient whose missing list is the cause: once that list is found, another attempt may succeed.
  public var missingList: PublicKey?

  /// A reason.
  public init(_ description: String, missingList: PublicKey? = nil) {
    self.description = description
    self.missingList = missingList
  }
}

/// The relays for an event.
public struct EventRoute: Hashable, Sendable {
  /// The relays; empty if and only if there is a problem.
  public var choices: [RelayChoice] = []
  /// Relays that were left out; `why` says the reason.
  public var skipped: [RelayChoice] = []
  /// Why there is no relay.
  public var problem: NoRoute?
}

/// The relays for a set of filters.
public struct FilterRoute: Hashable, Sendable {
  /// A relay and its filters.
  public struct Stop: Hashable, Sendable {
    /// The relay.
    public var choice: RelayChoice
    /// The filters for this relay, at least one.
    public var filters: [Filter]

    /// A relay and its filters.
    public init(_ choice: RelayChoice, _ filters: [Filter]) {
      self.choice = choice
      self.filters = filters
    }
  }
  /// The relays, in the order of their URLs.
  public var stops: [Stop] = []
  /// Relays that were left out; `why` says the reason.
  public var skipped: [RelayChoice] = []
  /// Why there is no relay; nil when there is one.
  public var problem: NoRoute?
}

/// Choices in the order of their addition, each relay once.
struct ChoiceList {
  private(set) var choices: [RelayChoice] = []
  private var places: [RelayURL: Int] = [:]

  /// Adds a choice. If the relay is present, the reasons are merged, and the relay is foreign only if both choices are.
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
