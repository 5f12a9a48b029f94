internal import Frames

/// The methods of the role `outbox-planner`.
public enum PlanMethod {
  /// Sends an event to its relays and keeps trying. Answered when the event is stored and queued.
  public static let publish = Method<PlanPublish, Publication>(
    384, "plan.publish", of: .outboxPlanner,
    for: [.client, .localRelay, .dvmTracker, .dvmProvider, .people, .linkFeed],
    "Sends an event to its relays and keeps trying. Answered when the event is stored and queued.",
    refuses: [.invalidEvent, .superseded, .deletedEvent, .expiredEvent, .noRelays, .wouldReplace, .diskFull])
  /// Publications, the newest first.
  public static let publications = Stream<PlanPublications, Publication, StoreCount>(
    385, "plan.publications", of: .outboxPlanner,
    for: [.client, .dvmTracker, .mirror, .people, .linkFeed, .localRelay],
    "Publications, the newest first.")
  /// A publication immediately and at each change, until its state is final or the caller cancels.
  public static let follow = Stream<PlanPublication, Publication, Nothing>(
    386, "plan.follow", of: .outboxPlanner, for: [.client],
    "A publication at once and at each change, until its state is final or the caller cancels.", refuses: [.noSuchEvent]
  )
  /// Sends again to relays that failed, and to those that wait without further delay.
  public static let retry = Method<PlanPublication, Publication>(
    387, "plan.retry", of: .outboxPlanner, for: [.client],
    "Tries relays again that failed, and those that wait at once.", refuses: [.noSuchEvent])
  /// Stops the attempts at relays that have not accepted the event.
  public static let cancel = Method<PlanPublication, Publication>(
    388, "plan.cancel", of: .outboxPlanner, for: [.client, .dvmTracker, .linkFeed],
    "Stops trying the relays that have not taken the event.", refuses: [.noSuchEvent])
  /// Where an event would be sent, or where filters would go, and why. Nothing is sent.
  public static let route = Method<PlanRoute, Route>(
    389, "plan.route", of: .outboxPlanner, for: [.client, .mirror, .people, .linkFeed],
    "Where an event would be sent, or where filters would be asked, and why. Nothing is sent.", refuses: [.noRelays])
  /// The known relays, and why each is known.
  public static let relays = Method<NoArguments, PlanRelayList>(
    390, "plan.relays", of: .outboxPlanner, for: [.client, .people, .linkFeed, .linkPage],
    "The relays that are known, and why each is.")
  /// Adds a relay by hand.
  public static let addRelay = Method<PlanRelay, PlanRelayList>(
    391, "plan.relays.add", of: .outboxPlanner, for: [.client, .linkPage],
    "Adds a relay by hand.")
  /// Removes a relay that was added by hand.
  public static let removeRelay = Method<PlanRelay, PlanRelayList>(
    392, "plan.relays.remove", of: .outboxPlanner, for: [.client, .linkPage],
    "Removes a relay that was added by hand.", refuses: [.noSuchRelay])
  /// How far the relays are with an observation: immediately and at each change, until the caller cancels.
  public static let progress = Stream<StoreObserve, ObserveProgress, Nothing>(
    393, "plan.progress", of: .outboxPlanner, for: [.client, .localRelay],
    "How far the relays are with what is observed: at once and at each change, until the caller cancels.")
  /// Figures of the publish queue and of the subscriptions at relays.
  public static let status = Method<NoArguments, PlanStatus>(
    394, "plan.status", of: .outboxPlanner, for: [.client, .localRelay, .linkFeed],
    "Figures of the publish queue and of what relays are asked.")
  /// Versions of lists that were kept because the next version had lost entries, the newest first.
  public static let replaced = Stream<PlanReplaced, ReplacedList, StoreCount>(
    395, "plan.replaced", of: .outboxPlanner, for: [.client, .mirror],
    "Versions of lists that were kept because the next version had lost entries, the newest first.",
    refuses: [.noSuchEvent])

  /// Has relays asked for what they have stored, once.
  public static let want = Stream<PlanWant, ObserveProgress, PlanWantResult>(
    396, "plan.want", of: .outboxPlanner, for: [.client, .mirror, .people],
    "Has relays asked for what they have stored of filters, once and as deep as is said. Each part is the progress.",
    refuses: [.full, .ownRelay])
  /// Sends stored events to a relay that lacks them.
  public static let copy = Method<PlanCopy, CopyOutcomes>(
    397, "plan.copy", of: .outboxPlanner, for: [.client, .mirror],
    "Sends stored events of one's own accounts to a relay that lacks them, after what is published there.",
    refuses: [.full, .ownRelay])
  /// Tells another Roost of the same owner what was published, and the other way round.
  public static let exchange = Method<PublicationExchange, PublishedNews>(
    398, "plan.exchange", of: .outboxPlanner, for: [.localRelay, .mirror],
    "Takes what another Roost of the same owner has published, and answers with what was published here.",
    refuses: [.noSuchAccount, .diskFull])

  /// Sends again what has waited for long.
  public static let retryUnsent = Method<PlanRetryUnsent, RetriedPublications>(
    399, "plan.retry-unsent", of: .outboxPlanner, for: [.client],
    "Sends at once what waits for relays, of publications that were accepted long enough ago.", refuses: [.diskFull])

  static let all: [MethodDeclaration] = [
    publish.declaration, publications.declaration, follow.declaration, retry.declaration, cancel.declaration,
    route.declaration, relays.declaration, addRelay.declaration, removeRelay.declaration, progress.declaration,
    status.declaration, replaced.declaration, want.declaration, copy.declaration, exchange.declaration,
    retryUnsent.declaration, PlanTopic.published.declaration,
  ]
}

/// The topics of the role `outbox-planner`.
public enum PlanTopic {
  /// Each change of a publication.
  public static let published = Topic<Publication>(
    416, "plan.published", of: .outboxPlanner, for: [.client, .dvmTracker, .people, .linkFeed],
    "Each change of a publication.")
}

extension Publication: Payload {}
extension RetriedPublications: Payload {}
extension Route: Payload {}
extension PlanRelayList: Payload {}
extension ObserveProgress: Payload {}
extension PlanStatus: Payload {}
extension ReplacedList: Payload {}
