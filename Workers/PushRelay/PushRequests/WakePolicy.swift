// Who hears what when they wake somebody, and what becomes of the wake: one table, without a lookup of its own, so that
// every row of it can be read and tested.
//
// Two policies meet. The recipient says who gets through (admission). The operator says who is told the truth
// (disclosure): an answer that tells a registered key from one that is not tells the world who uses a wallet, and one
// that tells a blocked sender so makes him come again under another key. So whoever may not know hears `queued`, with
// an id that looks like any other, whether the recipient is registered, has blocked him, or has heard enough today.
//
// What a sender has spent himself is his to know: that is always told.

/// Who may wake a recipient: the recipient's policy.
public enum AdmissionPolicy: String, Hashable, Sendable, CaseIterable, Codable {
  /// Everybody who is not blocked.
  case open
  /// Contacts, and whoever has a ticket.
  case contacts
  /// Contacts alone: tickets given away count for nothing.
  case blockStrangers = "block_strangers"
}

/// Who is told whether a recipient is registered: the operator's policy.
public enum DisclosurePolicy: String, Hashable, Sendable, CaseIterable, Codable {
  /// Those whom the recipient has allowed.
  case contacts
  /// Everybody: as the first clients expect it, while they move.
  case open
  /// Nobody.
  case never
}

/// What a sender is to the recipient.
public enum SenderStanding: String, Hashable, Sendable, CaseIterable {
  /// The recipient has allowed the sender, or is the sender.
  case contact
  /// The recipient has given a ticket.
  case ticket
  /// None of these.
  case stranger
  /// The recipient has blocked the sender.
  case blocked
}

/// What the limits say to a wake.
public enum WakeLimit: Hashable, Sendable {
  /// There is room.
  case within
  /// The sender, his network or the relay as a whole has none.
  case ofSender(retryAfterSeconds: Int)
  /// The recipient has had enough, of this sender, of strangers or of everybody.
  case ofRecipient(retryAfterSeconds: Int)
}

/// What is known of a wake when it is decided.
public struct WakeCircumstances: Hashable, Sendable {
  /// What the sender is to the recipient.
  public var standing: SenderStanding
  /// Whether the recipient has a device that wants wakes of this type.
  public var isRegistered: Bool
  /// The recipient's policy.
  public var admission: AdmissionPolicy
  /// The operator's policy.
  public var disclosure: DisclosurePolicy
  /// What the limits say.
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
  /// What the sender hears.
  public enum Answer: Hashable, Sendable {
    /// 200, `queued`.
    case queued
    /// 404, `recipient_not_found`.
    case notFound
    /// 429, `rate_limited`.
    case limited(retryAfterSeconds: Int)
  }

  /// Why nothing is delivered: for the operator's counters.
  public enum Drop: String, Hashable, Sendable, CaseIterable {
    /// The sender has spent what he may.
    case senderLimited = "sender_limited"
    /// The recipient has heard enough.
    case recipientLimited = "recipient_limited"
    /// There is no device for it.
    case unregistered
    /// The recipient has blocked the sender.
    case blocked
    /// The recipient takes no wakes of strangers.
    case notAdmitted = "not_admitted"
  }

  /// What the sender hears.
  public let answer: Answer
  /// Why the wake is not put into the queue; nil: it is.
  public let drop: Drop?

  /// Whether the wake is put into the queue.
  public var isEnqueued: Bool { drop == nil }
}

/// What a sender is shown of what became of a wake.
public enum WakeOutcomeView: String, Hashable, Sendable, CaseIterable {
  /// Nothing: it stays ``WakeState/queued`` for an hour, and then it is ``WakeState/unknown``, whatever became of it,
  /// and also where there was none.
  case none
  /// How it ended.
  case truth
  /// ``WakeState/sent``, as wakes of others whom the recipient has not blocked.
  case disguise
}

/// The table.
public enum WakePolicy {
  /// What the sender may know and do, both policies considered.
  private static func standing(_ given: WakeCircumstances) -> SenderStanding {
    given.standing == .ticket && given.admission == .blockStrangers ? .stranger : given.standing
  }

  /// Whether the sender is told how things are with the recipient: whether he is there, and whether he has heard
  /// enough. A blocked one is told what a stranger is told.
  public static func isToldTruth(_ given: WakeCircumstances) -> Bool {
    switch (given.disclosure, standing(given)) {
    case (.open, _), (.contacts, .contact), (.contacts, .ticket): true
    case (.contacts, .stranger), (.contacts, .blocked), (.never, _): false
    }
  }

  /// Whether a wake takes of what all strangers share. A ticket counts for as much as the recipient's policy says.
  public static func isStrangers(_ given: WakeCircumstances) -> Bool {
    let standing = standing(given)
    return standing == .stranger || standing == .blocked
  }

  /// Decides.
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

  /// What a sender learns of what became of a wake of his (`GET /wake/{id}`).
  ///
  /// - Parameters:
  ///   - given: all that the decision needs.
  ///   - unblocked: what the sender would be if he were not blocked.
  public static func outcome(_ given: WakeCircumstances, unblocked: SenderStanding) -> WakeOutcomeView {
    guard isToldTruth(given) else { return .none }
    guard given.standing == .blocked else { return .truth }
    var other = given
    other.standing = unblocked
    // Who is not let through for another reason either learns that much, as others do.
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
