internal import Frames

/// The methods of the role `event-store`.
public enum StoreMethod {
  /// Stores events that have just arrived from relays.
  public static let ingest = Method<IngestRun, IngestResult>(
    320, "store.ingest", of: .eventStore, for: [.relayConnector],
    "Stores events that have just arrived from relays. Answered when they are committed.", refuses: [.diskFull])
  /// Stores events from files, and events that relays had stored.
  public static let `import` = Method<IngestRun, IngestResult>(
    321, "store.import", of: .eventStore, for: [.client, .relayConnector],
    "Stores events from files, or what relays had stored, over the bulk lane. Answered when they are committed.",
    refuses: [.diskFull])
  /// Stores one event.
  public static let publish = Method<SignedEvent, PublishResult>(
    322, "store.publish", of: .eventStore, for: [.client, .dvmTracker, .dvmProvider, .outboxPlanner],
    "Stores one event. Answered when it is committed; no relay gets it (`plan.publish` does that).",
    refuses: [.invalidEvent, .superseded, .deletedEvent, .expiredEvent, .diskFull])
  /// Stored events.
  public static let query = Stream<StoreQuery, QueriedEvents, StoreCount>(
    323, "store.query", of: .eventStore,
    for: [.client, .outboxPlanner, .pushRelay, .dvmTracker, .dvmProvider, .mirror, .people],
    "Stored events that any of the filters matches, each once, the newest first.")
  /// Counts stored events.
  public static let count = Method<StoreQuery, StoreCount>(
    324, "store.count", of: .eventStore, for: [.client, .outboxPlanner, .dvmProvider, .localRelay, .mirror, .people],
    "How many stored events any of the filters matches.")
  /// Stored events, and then new ones.
  public static let observe = Stream<StoreObserve, ObservedEvents, Nothing>(
    325, "store.observe", of: .eventStore,
    for: [.client, .outboxPlanner, .dvmTracker, .dvmProvider, .pushRelay, .localRelay, .mirror, .people, .linkFeed],
    "Stored events that any of the filters matches, and then new ones, until the caller cancels.",
    refuses: [.full, .replaced, .missed])
  /// The relays that an event came from.
  public static let seen = Method<StoreSeen, SeenResult>(
    326, "store.seen", of: .eventStore, for: [.client, .outboxPlanner, .people], "The relays that an event came from.",
    refuses: [.noSuchEvent])
  /// Figures of the store.
  public static let status = Method<NoArguments, StoreStatus>(
    327, "store.status", of: .eventStore, for: [.client, .outboxPlanner, .localRelay, .mirror, .people],
    "Figures of the store. Counters begin with the process.")
  /// Records up to which seq an observer has handled its events.
  public static let acknowledge = Method<StoreAcknowledge, Nothing>(
    328, "store.acknowledge", of: .eventStore, for: [.client, .outboxPlanner],
    "The caller has handled all events of an observation up to a seq.", refuses: [.noSuchObserve])
  /// Records that the network was queried for some filters.
  public static let fetched = Method<StoreFetched, Nothing>(
    329, "store.fetched", of: .eventStore, for: [.outboxPlanner],
    "All relays that are planned for these filters have sent what they had.")
  /// The current observations.
  public static let listObserves = Stream<NoArguments, ActiveObserve, ObserveListEnd>(
    330, "store.observes.list", of: .eventStore, for: [.client, .outboxPlanner], "What is observed at present.")
  /// For which relays and times the store has everything.
  public static let coverage = Stream<StoreCoverage, CoveredFilter, StoreCount>(
    331, "store.coverage", of: .eventStore, for: [.client, .outboxPlanner, .relayConnector, .mirror],
    "For which relays and times everything that the filters match is stored.")
  /// Stores events of clients.
  public static let offer = Method<OfferedEvents, OfferOutcomes>(
    332, "store.offer", of: .eventStore, for: [.client, .localRelay, .outboxPlanner, .dvmTracker],
    "Stores many events. Answered with an outcome for each, in their order, when all are committed.",
    refuses: [.diskFull])
  /// Begins a reconciliation.
  public static let openReconcile = Stream<ReconcileOpen, ReconcileMessage, ReconcileEnd>(
    333, "store.reconcile.open", of: .eventStore, for: [.client, .localRelay],
    "Begins a reconciliation (NIP-77). The one part is the first message; the request stays open until the session ends.",
    refuses: [.tooMany, .full, .idle])
  /// The next message.
  public static let nextReconcile = Method<ReconcileMessage, ReconcileMessage>(
    334, "store.reconcile.next", of: .eventStore, for: [.client, .localRelay],
    "The next message of a reconciliation.", refuses: [.noSuchSession])
  /// Ends a reconciliation.
  public static let closeReconcile = Method<ReconcileClose, Nothing>(
    335, "store.reconcile.close", of: .eventStore, for: [.client, .localRelay], "Ends a reconciliation.",
    refuses: [.noSuchSession])
  /// Stores events of clients that no account signed.
  public static let offerForeign = Method<OfferedEvents, OfferOutcomes>(
    336, "store.offer.foreign", of: .eventStore, for: [.localRelay],
    "As `store.offer`, for events that no account signed; they count towards `foreign-limit`.", refuses: [.diskFull])
  /// Stores events that another Roost of the same owner sends.
  public static let offerPeer = Method<OfferedEvents, OfferOutcomes>(
    342, "store.offer.peer", of: .eventStore, for: [.localRelay],
    "As `store.offer`, for events that another Roost of the same owner sends; they are kept as those of relays are.",
    refuses: [.diskFull])
  /// Begins a reconciliation with a relay.
  public static let beginReconcile = Stream<ReconcileBegin, ReconcileMessage, ReconcileFound>(
    337, "store.reconcile.begin", of: .eventStore, for: [.relayConnector],
    "Compares stored events with a relay's (NIP-77). The one part is the first message; answered when the difference is known.",
    refuses: [.tooMany, .full, .idle])
  /// A relay's answer to a message of the store.
  public static let receivedReconcile = Stream<ReconcileMessage, DifferentEvents, ReconcileMessage>(
    338, "store.reconcile.received", of: .eventStore, for: [.relayConnector],
    "Takes a relay's message of a reconciliation: the ids that the store lacks, and the next message.",
    refuses: [.noSuchSession])

  /// What relays had of some authors.
  public static let delivery = Stream<StoreDelivery, AuthorDelivery, StoreCount>(
    339, "store.delivery", of: .eventStore, for: [.client, .outboxPlanner],
    "How many events of some authors each relay had that has sent all of a time.")
  /// Removes what is over a bound.
  public static let trim = Method<StoreTrim, StoreTrimmed>(
    340, "store.trim", of: .eventStore, for: [.client, .mirror],
    "Removes the oldest events of filters, strangers' first, until the rest fits into so many bytes.",
    refuses: [.full, .diskFull])
  /// The relays that sent events of some authors.
  public static let sources = Method<StoreSources, SourceRelays>(
    341, "store.sources", of: .eventStore, for: [.client, .mirror, .people],
    "The relays that sent events of some authors, and how many.")
  /// What only clients handed in.
  public static let unseen = Stream<StoreUnseen, EventIDs, StoreCount>(
    343, "store.unseen", of: .eventStore, for: [.client, .mirror],
    "The events of an author that were handed in here and that no relay has sent. Each part is some ids.")

  static let all: [MethodDeclaration] = [
    ingest.declaration, `import`.declaration, publish.declaration, query.declaration, count.declaration,
    observe.declaration, seen.declaration, status.declaration, acknowledge.declaration, fetched.declaration,
    listObserves.declaration, coverage.declaration, offer.declaration, openReconcile.declaration,
    nextReconcile.declaration, closeReconcile.declaration, offerForeign.declaration, offerPeer.declaration,
    beginReconcile.declaration, receivedReconcile.declaration, delivery.declaration, trim.declaration,
    sources.declaration,
    unseen.declaration, StoreTopic.observes.declaration,
    StoreTopic.covered.declaration,
  ]
}

/// The topics of the role `event-store`.
public enum StoreTopic {
  /// Changes of the observations.
  public static let observes = Topic<ObserveChanges>(
    352, "store.observes", of: .eventStore, for: [.client, .outboxPlanner], "Changes of what is observed.")
  /// Additions to the coverage.
  public static let covered = Topic<CoverageAdded>(
    353, "store.covered", of: .eventStore, for: [.client, .outboxPlanner],
    "A relay has sent all it had for a filter, and all of it is committed.")
}

extension IngestResult: Payload {}
extension PublishResult: Payload {}
extension StoreCount: Payload {}
extension SeenResult: Payload {}
extension StoreStatus: Payload {}
extension ActiveObserve: Payload {}
extension ObserveListEnd: Payload {}
extension CoveredFilter: Payload {}
extension AuthorDelivery: Payload {}
extension StoreTrimmed: Payload {}
extension SourceRelays: Payload {}
extension ReconcileEnd: Payload {}
extension ReconcileFound: Payload {}
extension ObserveChanges: Payload {}
extension CoverageAdded: Payload {}
