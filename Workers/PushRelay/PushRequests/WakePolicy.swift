// What a sender receives as the answer to a wake, and what becomes of the wake: one table without lookups, so that
// every row can be read and tested.
//
// Two policies meet. The recipient decides which senders are admitted (admission). The operator decides which senders
// learn the truth (disclosure): an answer that differs between registered and unregistered keys shows everyone who uses
// a wallet, and an answer that shows a sender that it is blocked makes it come back under another key. So a sender that
// may not know receives `queued`, with an id that looks like any other, whether the recipient is registered, has
// blocked the sender, or has reached a limit.
//
// The sender's own limits are no secret from it: it always learns of them.

/// Which senders may wake a recipient: the recipient's policy.
public enum AdmissionPolicy: String, Hashable, Sendable, CaseIterable, Codable {
  /// All that are not blocked.
  case open
  /// Contacts, and holders of a ticket.
  case contacts
  /// Contacts only: tickets given away have no effect.
  case blockStrangers = "block_strangers"
}

/// Which senders learn whether a recipient is registered: the operator's policy.
public enum DisclosurePolicy: String, Hashable, Sendable, CaseIterable, Codable {
  /// Those that the recipient has allowed.
  case contacts
  /// All: as the first clients expect it, until they have changed.
  case open
  /// None.
  case never
}

/// What a sender is to the recipient.
public enum SenderStanding: String, Hashable, Sendable, CaseIterable {
  /// The recipient has allowed the sender, or is the sender.
  case contact
  /// The recipient has given the sender a ticket.
  case ticket
  /// None of these.
  case stranger
  /// The recipient has blocked the sender.
  case blocked
}

/// What the limits decide about a wake.
public enum WakeLimit: Hashable, Sendable {
  /// There is room.
  case within
  /// The sender, its network or the whole relay has reached a limit.
  case ofSender(retryAfterSeconds: Int)
  /// The recipient has reached a limit: for this sender, for strangers or for all.
  case ofRecipient(retryAfterSeconds: Int)
}

/// Everything on which the decision about a wake depends.
public struct WakeCircumstances: Hashable, Sendable {
  /// What the sender is to the recipient.
  public var standing: SenderStanding
  /// Whether the recipient has a device that wants wakes of this type.
  public var isRegistered: Bool
  /// The recipient's policy.
  public var admission: AdmissionPolicy
  /// The operator's policy.
  public var disclosure: DisclosurePolicy
  /// What the limits decide.
  public var limit: WakeLimit

  /// Circumstances.
  public init(
    standing: SenderStanding, isRegistered: Bool, admission: AdmissionPolicy = .open,
    disclosure: DisclosurePolicy = .contacts, limit: WakeLimit = .within
  ) {
    self.standing = standing
    self.isRegistered = isRegistered
    self.admission = admission
    self.disclosure = disclosure
    self.limit = limit
  }
}

/// What becomes of a wake.
public struct WakeDecision: Hashable, Sendable {
  /// The answer to the sender.
  public enum Answer: Hashable, Sendable {
    /// 200, `queued`.
    case queued
    /// 404, `recipient_not_found`.
    case notFound
    /// 429, `rate_limited`.
    case limited(retryAfterSeconds: Int)
  }

  /// Why a wake is not delivered: for the operator's counters.
  public enum Drop: String, Hashable, Sendable, CaseIterable {
    /// The sender has reached its limit.
    case senderLimited = "sender_limited"
    /// The recipient has reached a limit.
    case recipientLimited = "recipient_limited"
    /// The recipient has no device for it.
    case unregistered
    /// The recipient has blocked the sender.
    case blocked
    /// The recipient does not admit strangers.
    case notAdmitted = "not_admitted"
  }

  /// The answer to the sender.
  public let answer: Answer
  /// Why the wake is not put into the queue; nil: it is.
  public let drop: Drop?

  /// Whether the wake is put into the queue.
  public var isEnqueued: Bool { drop == nil }
}

/// What a sender may learn of what became of a wake.
public enum WakeOutcomeView: String, Hashable, Sendable, CaseIterable {
  /// Nothing: it stays ``WakeState/queued`` for an hour and then is ``WakeState/unknown``, whatever became of it, and
  /// also if there was no wake.
  case none
  /// The true state.
  case truth
  /// ``WakeState/sent``, as for wakes of senders that the recipient has not blocked.
  case disguise
}

/// The table.
public enum WakePolicy {
  /// What the sender counts as, with both policies considered.
  private static func standing(_ given: WakeCircumstances) -> SenderStanding {
    given.standing == .ticket && given.admission == .blockStrangers ? .stranger : given.standing
  }

  /// Whether the sender may learn the recipient's state: whether it is registered, and whether it has reached a limit.
  /// A blocked sender learns as much as a stranger.
  public static func isToldTruth(_ given: WakeCircumstances) -> Bool {
    switch (given.disclosure, standing(given)) {
    case (.open, _), (.contacts, .contact), (.contacts, .ticket): true
    case (.contacts, .stranger), (.contacts, .blocked), (.never, _): false
    }
  }

  /// Whether a wake uses the share of all strangers. The recipient's policy decides what a ticket is worth.
  public static func isStrangers(_ given: WakeCircumstances) -> Bool {
    let standing = standing(given)
    return standing == .stranger || standing == .blocked
  }

  /// Decides about a wake.
  public static func decide(_ given: WakeCircumstances) -> WakeDecision {
    if case .ofSender(let seconds) = given.limit {
      return WakeDecision(answer: .limited(retryAfterSeconds: seconds), drop: .senderLimited)
    }
    let isToldTruth = isToldTruth(given)
    guard given.isRegistered else {
      return WakeDecision(answer: isToldTruth ? .notFound : .queued, drop: .unregistered)
    }
    var answer = WakeDecision.Answer.queued
    if isToldTruth, case .ofRecipient(let seconds) = given.limit { answer = .limited(retryAfterSeconds: seconds) }
    guard isAdmitted(given) else {
      return WakeDecision(answer: answer, drop: given.standing == .blocked ? .blocked : .notAdmitted)
    }
    return WakeDecision(answer: answer, drop: given.limit == .within ? nil : .recipientLimited)
  }

  /// What a sender learns of what became of its wake (`GET /wake/{id}`).
  ///
  /// - Parameters:
  ///   - given: everything that the decision needs.
  ///   - unblocked: what the sender would be without the block.
  public static func outcome(_ given: WakeCircumstances, unblocked: SenderStanding) -> WakeOutcomeView {
    guard isToldTruth(given) else { return .none }
    guard given.standing == .blocked else { return .truth }
    var other = given
    other.standing = unblocked
    // If the sender is not admitted for another reason either, it learns that, as others do.
    return isAdmitted(other) ? .disguise : .truth
  }

  private static func isAdmitted(_ given: WakeCircumstances) -> Bool {
    switch standing(given) {
    case .blocked: false
    case .stranger: given.admission == .open
    case .contact, .ticket: true
    }
  }
}
