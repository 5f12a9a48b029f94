public import Contracts
public import Cryptography
public import Nostr

/// A publication as the queue holds it and the ledger keeps it.
public struct QueuedPublication: Sendable, Hashable {
  /// Its place in the order of acceptance, from 1; the ledger assigns it.
  public let number: Int64
  /// The event's id.
  public let id: EventID
  /// Its author.
  public let author: PublicKey
  /// Its kind.
  public let kind: UInt16
  /// When it was accepted, seconds since 1970.
  public let acceptedAt: Int64
  /// When relays that have not accepted it are given up, seconds since 1970.
  public var expiresAt: Int64
  /// Its relays, in the order of their URLs, each once.
  public private(set) var targets: [QueuedTarget]

  /// A publication; its relays are sorted.
  public init(
    number: Int64, id: EventID, author: PublicKey, kind: UInt16, acceptedAt: Int64, expiresAt: Int64,
    targets: [QueuedTarget]
  ) {
    self.number = number
    self.id = id
    self.author = author
    self.kind = kind
    self.acceptedAt = acceptedAt
    self.expiresAt = expiresAt
    self.targets = []
    add(targets)
  }

  /// Adds relays that it does not have yet. Returns how many were added.
  @discardableResult
  public mutating func add(_ added: [QueuedTarget]) -> Int {
    var known = Set(targets.map(\.relay))
    let new = added.filter { known.insert($0.relay).inserted }
    if !new.isEmpty { targets = (targets + new).sorted { $0.relay < $1.relay } }
    return new.count
  }

  /// Changes one of its relays.
  mutating func change(_ index: Int, _ body: (inout QueuedTarget) -> Void) { body(&targets[index]) }

  /// The state of all relays together.
  public var state: Publication.State { Publication.State(of: targets.lazy.map(\.progress.state)) }

  /// The publication as callers see it.
  public var publication: Publication {
    Publication(
      id: "\(id)", kind: kind, author: "\(author)", state: state, acceptedAt: acceptedAt, expiresAt: expiresAt,
      targets: targets.map(\.progress))
  }
}

/// One relay of a publication.
public struct QueuedTarget: Sendable, Hashable {
  /// Its progress, as callers see it.
  public var progress: PublicationTarget
  /// Refusals that count against a limit; when it is reached, the relay is given up.
  public var refusals: Int
  /// How the event is sent there.
  public let manner: SendingManner
  /// The relay's pace when this was recorded, in milliseconds between two events; 0 when none is known. Of the events
  /// that wait for a relay that has answered `rate-limited`, the next one carries the pace, so that a planner that
  /// restarts knows it.
  public var paceMilliseconds: UInt32

  /// A relay of a publication.
  public init(
    _ progress: PublicationTarget, refusals: Int = 0, manner: SendingManner, paceMilliseconds: UInt32 = 0
  ) {
    self.progress = progress
    self.refusals = refusals
    self.manner = manner
    self.paceMilliseconds = paceMilliseconds
  }

  /// The relay's canonical URL.
  public var relay: String { progress.relay }
  /// Whether the event must still be sent there, or awaits the relay's answer.
  public var isOpen: Bool { progress.state == .pending || progress.state == .sent }
}

/// What a connector needs to know to send an event to one relay.
public struct SendingManner: Sendable, Hashable {
  /// The account that authenticates when the relay requires it (NIP-42).
  public var account: PublicKey?
  /// Whether to send only after the account has authenticated (NIP-70).
  public var isProtected: Bool
  /// Whether other people named the relay: then it is never dialled at a private address.
  public var isForeign: Bool

  /// How one event is sent to one relay. `isForeign` has no default: the caller must decide it.
  public init(account: PublicKey? = nil, isProtected: Bool = false, isForeign: Bool) {
    self.account = account
    self.isProtected = isProtected
    self.isForeign = isForeign
  }
}

extension Publication.State {
  /// The state of a publication whose relays have these states.
  public init(of targets: some Sequence<PublicationTarget.State>) {
    var (isOpen, isTaken, isCancelled) = (false, false, false)
    for state in targets {
      switch state {
      case .pending, .sent: isOpen = true
      case .confirmed: isTaken = true
      case .cancelled: isCancelled = true
      case .failed: break
      }
    }
    switch (isOpen, isTaken) {
    case (true, true): self = .partial
    case (true, false): self = .optimistic
    case (false, true): self = .confirmed
    case (false, false): self = isCancelled ? .cancelled : .failed
    }
  }
}
