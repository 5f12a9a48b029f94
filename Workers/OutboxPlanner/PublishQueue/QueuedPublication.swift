public import Contracts
public import Cryptography
public import Nostr

/// A publication as the queue holds it and the ledger keeps it.
public struct QueuedPublication: Sendable, Hashable {
  /// Its place in the order of acceptance, from 1; the ledger's own.
  public let number: Int64
  /// The event's id.
  public let id: EventID
  /// Its author.
  public let author: PublicKey
  /// Its kind.
  public let kind: UInt16
  /// When it was accepted, seconds since 1970.
  public let acceptedAt: Int64
  /// When relays that have not taken it are given up, seconds since 1970.
  public var expiresAt: Int64
  /// Its relays, in the order of their URLs, each once.
  public private(set) var targets: [QueuedTarget]

  /// A publication; its relays are put in order.
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

  /// Adds relays that it does not have yet. Returns how many those were.
  @discardableResult
  public mutating func add(_ added: [QueuedTarget]) -> Int {
    var known = Set(targets.map(\.relay))
    let new = added.filter { known.insert($0.relay).inserted }
    if !new.isEmpty { targets = (targets + new).sorted { $0.relay < $1.relay } }
    return new.count
  }

  /// Changes one relay of it.
  mutating func change(_ index: Int, _ body: (inout QueuedTarget) -> Void) { body(&targets[index]) }

  /// All relays together.
  public var state: Publication.State { Publication.State(of: targets.lazy.map(\.progress.state)) }

  /// As it is told.
  public var publication: Publication {
    Publication(
      id: "\(id)", kind: kind, author: "\(author)", state: state, acceptedAt: acceptedAt, expiresAt: expiresAt,
      targets: targets.map(\.progress))
  }
}

/// One relay of a publication.
public struct QueuedTarget: Sendable, Hashable {
  /// How it is doing, as it is told.
  public var progress: PublicationTarget
  /// Refusals that count against a bound: beyond it the relay is given up.
  public var refusals: Int
  /// How it is sent there.
  public let manner: SendingManner
  /// The relay's pace when this was written down, in milliseconds between two events; 0: none is known. Of what waits
  /// for a relay that has said `rate-limited` the next one has it, so that a planner that starts again knows it.
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
  /// Whether it is still to be sent, or the answer is awaited.
  public var isOpen: Bool { progress.state == .pending || progress.state == .sent }
}

/// What a connector must know to send an event to one relay.
public struct SendingManner: Sendable, Hashable {
  /// Who shows himself when the relay asks for it (NIP-42).
  public var account: PublicKey?
  /// Only where he has shown himself (NIP-70).
  public var isProtected: Bool
  /// Named by other people: not dialled at a private address.
  public var isForeign: Bool

  /// How one event is sent to one relay. Who sends it says whether others have named the relay.
  public init(account: PublicKey? = nil, isProtected: Bool = false, isForeign: Bool) {
    self.account = account
    self.isProtected = isProtected
    self.isForeign = isForeign
  }
}

extension Publication.State {
  /// What the states of its relays are together.
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
