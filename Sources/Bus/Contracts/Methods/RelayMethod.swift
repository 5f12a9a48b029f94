internal import Frames

/// The methods of the role `relay-connector`.
public enum RelayMethod {
  /// Sends a REQ to one relay.
  public static let request = Stream<RelayRequest, SignedEvent, RelayRequestResult>(
    256, "relay.request", of: .relayConnector, for: [.client, .outboxPlanner, .mirror],
    "Sends a REQ to one relay. Each part is one event; the answer comes after the relay's EOSE.",
    refuses: [.noSuchRelay, .ownRelay])
  /// Sends an EVENT to one relay.
  public static let publish = Method<RelayPublish, RelayPublishResult>(
    257, "relay.publish", of: .relayConnector, for: [.client, .outboxPlanner],
    "Sends an EVENT to one relay. Answered by the relay's OK.", refuses: [.noSuchRelay, .ownRelay])
  /// The relays of a connector.
  public static let list = Method<NoArguments, RelayStates>(
    258, "relay.list", of: .relayConnector, for: [.client, .outboxPlanner, .localRelay, .people],
    "The relays of one connector, and how their connections are.")
  /// The subscriptions to hold open.
  public static let desire = Method<RelayDesire, RelayDesireResult>(
    259, "relay.desire", of: .relayConnector, for: [.outboxPlanner],
    "Sets the subscriptions that the connector holds open at its relays.", refuses: [.noSuchVersion, .noSuchRelay])
  /// The states of these subscriptions and of the relays.
  public static let follow = Stream<NoArguments, RelayReport, Nothing>(
    260, "relay.follow", of: .relayConnector, for: [.client, .outboxPlanner],
    "How the subscriptions and the relays of the connector are doing, until the caller cancels. The first part is whole.",
    refuses: [.full])
  /// Dials a relay now.
  public static let retry = Method<RelayRetry, RelayStates.Relay>(
    261, "relay.retry", of: .relayConnector, for: [.client, .outboxPlanner, .people],
    "Dials a relay now, and forgets its failures and its quarantine.", refuses: [.noSuchRelay, .ownRelay])
  /// What a relay says about itself (NIP-11).
  public static let information = Method<RelayInformationRequest, RelayInformationResult>(
    262, "relay.information", of: .relayConnector, for: [.client, .outboxPlanner],
    "What a relay says of itself (NIP-11). Nothing of it is proven.", refuses: [.noInformation, .ownRelay])
  /// Fetches what the store lacks of a relay's events (NIP-77).
  public static let reconcile = Stream<RelayReconcile, ReconcileCounts, RelayReconcileResult>(
    263, "relay.reconcile", of: .relayConnector, for: [.client],
    "Fetches the events of a relay that the store lacks, by NIP-77. Each part is the counts so far.",
    refuses: [.noSuchRelay, .ownRelay, .full])

  /// The same, and names what the relay lacks.
  public static let compare = Stream<RelayReconcile, EventIDs, RelayReconcileResult>(
    265, "relay.compare", of: .relayConnector, for: [.client, .mirror],
    "As `relay.reconcile`, and the parts are the ids of stored events that the relay lacks.",
    refuses: [.noSuchRelay, .ownRelay, .full])

  /// What a person's name leads to (NIP-05).
  public static let resolveName = Method<NameResolve, ResolvedName>(
    264, "name.resolve", of: .relayConnector, for: [.client, .outboxPlanner, .people],
    "The key and the relays that a person's name leads to (NIP-05): the word of the name's server.",
    refuses: [.noSuchName, .nameUnreachable, .rateLimited])
  /// What another Roost of the same owner has published.
  public static let publications = Method<RelayPublications, PublishedNews>(
    266, "relay.publications", of: .relayConnector, for: [.client, .mirror],
    "Tells another Roost of the same owner what was published here; answered with what was published there.",
    refuses: [.noSuchRelay, .ownRelay, .full])

  /// How many events a relay has of a filter (NIP-45).
  public static let count = Method<RelayCount, RelayCounted>(
    267, "relay.count", of: .relayConnector, for: [.client],
    "How many events a relay has of a filter, by its word (NIP-45). Nothing is fetched.",
    refuses: [.noSuchRelay, .ownRelay, .full])

  static let all: [MethodDeclaration] = [
    request.declaration, publish.declaration, list.declaration, desire.declaration, follow.declaration,
    retry.declaration, information.declaration, reconcile.declaration, compare.declaration, resolveName.declaration,
    publications.declaration, count.declaration, RelayTopic.states.declaration,
  ]
}

/// The topics of the role `relay-connector`.
public enum RelayTopic {
  /// States of relays that have changed.
  public static let states = Topic<RelayStates>(
    288, "relay.states", of: .relayConnector, for: [.client, .outboxPlanner, .people, .linkFeed],
    "The relays whose states have changed.")
}

/// One signed event as JSON, in the exact bytes that its author signed.
public struct SignedEvent: BytePayload, Hashable {
  /// An event.
  public static var form: PayloadForm { .event }
  /// Its bytes.
  public var bytes: [UInt8]
  /// Whether the sender marked the bytes as RAW, which is wrong for an event.
  public var isRaw: Bool

  /// An event.
  public init(_ bytes: [UInt8], isRaw: Bool = false) { (self.bytes, self.isRaw) = (bytes, isRaw) }
}

extension RelayRequestResult: Payload {}
extension RelayPublishResult: Payload {}
extension RelayCounted: Payload {}
extension RelayStates: Payload {}
extension RelayStates.Relay: Payload {}
extension RelayDesireResult: Payload {}
extension RelayReport: Payload {}
extension RelayInformationResult: Payload {}
extension ReconcileCounts: Payload {}
extension RelayReconcileResult: Payload {}
