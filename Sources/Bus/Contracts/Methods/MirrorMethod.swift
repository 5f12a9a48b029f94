internal import Frames

/// The methods of the role `mirror`.
public enum MirrorMethod {
  /// How much is kept, and how complete it is.
  public static let status = Method<NoArguments, MirrorStatus>(
    768, "mirror.status", of: .mirror, for: [.client, .localRelay],
    "How much of each account is here, and how complete it is by the store's coverage.")

  /// Compares relays with what accounts wrote, and sends what they lack.
  public static let scrub = Stream<MirrorScrub, CopyStatus.Relay, StoreCount>(
    769, "mirror.scrub", of: .mirror, for: [.client],
    "Compares relays with what accounts wrote, now, and sends what they lack. A part for each relay.",
    refuses: [.noSuchAccount, .full])
  /// Which relays have an event.
  public static let copies = Method<MirrorCopies, EventCopies>(
    770, "mirror.copies", of: .mirror, for: [.client], "Which relays have an event of an account.",
    refuses: [.noSuchEvent])
  /// Compares with the other Roosts of the same owner.
  public static let sync = Stream<MirrorSync, PeerStatus, StoreCount>(
    771, "mirror.sync", of: .mirror, for: [.client],
    "Compares with the other Roosts of the same owner, now, in both directions. A part for each.",
    refuses: [.noSuchRelay])

  static let all: [MethodDeclaration] = [
    status.declaration, scrub.declaration, copies.declaration, sync.declaration,
  ]
}
