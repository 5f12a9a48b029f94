public import Contracts
public import Cryptography
public import Frames
internal import Nostr

// Whether a job is for the provider of this machine. While that provider does not say so, no other one is asked in its
// place: a job that this provider would do is not to be shown to the world.

/// What the provider of this machine says when a job comes.
public enum JobHost: Sendable {
  /// There is no provider on this machine.
  case absent
  /// The provider was asked, and has not answered.
  case silent(Refusal)
  /// What it serves; without its key while it starts.
  case told(ServingStatus)

  /// After how long a refused caller may try again.
  private static let retryMilliseconds: UInt32 = 1_000

  /// Whether the provider has to be asked: not about a job that is for relays in any case, or for others.
  public static func mayBeMeant(by submit: JobSubmit) -> Bool {
    submit.reach != .relays && named(submit).count <= 1 && submit.relays?.isEmpty != false
  }

  /// Whether the provider serves a job, and by which key it answers, if that is known.
  ///
  /// - Parameters:
  ///   - submit: the job.
  ///   - ownKeys: the keys of the accounts here; the provider answers by one of them.
  ///   - isFinal: whether this is the last attempt. A job that needs no key is then accepted without one: any provider
  ///     here may do it, and the error of one does not end it before its time is over.
  /// - Throws: `expired`, `unavailable`, or the provider's own refusal, as long as only the provider could say whether
  ///   the job is for it, or by which key it would answer.
  public func place(
    of submit: JobSubmit, ownKeys: Set<PublicKey>, isFinal: Bool
  ) throws(Refusal) -> (isHere: Bool, by: PublicKey?) {
    guard Self.mayBeMeant(by: submit) else { return (false, nil) }
    let named = Self.named(submit).first
    let isForOther = named.map { key in key.map { !ownKeys.contains($0) } ?? true } ?? false
    let isSecret = submit.encryption.map { $0 != .none } ?? false
    // A job that stays here goes to the named provider, or to any provider here; an encrypted one needs a key.
    let staysHere = submit.reach == .local && (named != nil || !isSecret)
    switch self {
    case .absent: return (false, nil)
    case .silent(let why):
      guard isForOther || staysHere else { throw Self.explained(why) }
      return (false, nil)
    case .told(let status):
      guard status.services.contains(where: { $0.kind == submit.kind }) else { return (false, nil) }
      if let host = status.provider.flatMap({ PublicKey($0) }) {
        return named == nil || named == host ? (true, host) : (false, nil)
      }
      if named == nil, !isSecret {
        guard isFinal else { throw Self.refusal(.unavailable, "is starting") }
        return (true, nil)
      }
      guard isForOther || staysHere else { throw Self.refusal(.unavailable, "is starting") }
      return (false, nil)
    }
  }

  /// The providers that a job names. A name that is not a key is refused later, when the job is checked.
  private static func named(_ submit: JobSubmit) -> Set<PublicKey?> {
    Set((submit.providers ?? []).map { try? PublicKey(spelled: $0) })
  }

  private static func explained(_ why: Refusal) -> Refusal {
    switch why.code {
    case .expired: refusal(.expired, "does not answer at present")
    case .unavailable, .workerDied: refusal(.unavailable, "does not answer at present")
    default: why
    }
  }

  private static func refusal(_ code: RefusalCode, _ what: String) -> Refusal {
    Refusal(
      code,
      "this machine's provider \(what), and the job may be for it: it is not accepted, and no provider was asked. "
        + "'roost why dvm-provider' tells what is wrong; then submit it again, or publish it to relays: "
        + "--publish, or \"reach\":\"relays\"", outcome: .notStarted, retryAfterMilliseconds: retryMilliseconds)
  }
}
