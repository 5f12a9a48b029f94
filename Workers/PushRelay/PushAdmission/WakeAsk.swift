public import PushDelivery

/// A wake that needs admission.
public struct WakeAsk: Hashable, Sendable {
  /// What the wake costs the recipient.
  public enum Charge: String, Hashable, Sendable, CaseIterable {
    /// A part of the share that strangers cannot use: the sender is a contact, or has a ticket.
    case contact
    /// A part of what all strangers share.
    case stranger
    /// Nothing: the wake joins a push that is already waiting, or the recipient never receives it.
    case nothing
  }

  /// The sender; nil: this machine.
  public var sender: PushOwner?
  /// The recipient.
  public var recipient: PushOwner
  /// What the wake costs the recipient.
  public var charge: Charge
  /// Whether the sender may know that the recipient has no room. Then a refused wake charges the sender nothing;
  /// otherwise it charges as if there were room, so that the sender cannot notice.
  public var isTold: Bool
  /// How many pushes the wake makes, as the recipient's windows count them; 1 to 10.
  public var pushCount: Int

  /// Most pushes of one wake.
  public static let pushCountMaximum = 10

  /// A wake. Without `isTold`, contacts learn the truth and others do not.
  public init(sender: PushOwner?, recipient: PushOwner, charge: Charge, isTold: Bool? = nil, pushCount: Int = 1) {
    self.sender = sender
    self.recipient = recipient
    self.charge = charge
    self.isTold = isTold ?? (charge == .contact)
    self.pushCount = min(max(pushCount, 1), Self.pushCountMaximum)
  }
}

/// The limit that is used up.
public enum AdmissionScope: String, Hashable, Sendable, CaseIterable {
  /// Requests to the whole relay.
  case global
  /// Requests of one network.
  case address
  /// Wakes of one sender in a minute.
  case senderMinute = "sender_minute"
  /// Wakes of one sender in an hour.
  case senderHour = "sender_hour"
  /// Pushes of one sender to one recipient.
  case pair
  /// Pushes of all strangers to one recipient.
  case strangers
  /// Pushes to one recipient.
  case recipient
  /// Registrations of one owner.
  case registrations
  /// Registrations from one network.
  case addressRegistrations = "address_registrations"
  /// Lists and rules of one owner.
  case changes
  /// Lists and rules from one network.
  case addressChanges = "address_changes"
}

/// What the limits decide.
public enum AdmissionVerdict: Hashable, Sendable {
  /// Admitted and charged.
  case admitted
  /// Refused, and the sender may know: after this many seconds (at least 1) there is room again, unless another sender
  /// takes it. Nothing is charged.
  case limited(retryAfterSeconds: Int, scope: AdmissionScope)
  /// Refused at the recipient's side, which the sender must not know: the answer is as if the wake was admitted. The
  /// sender's windows are charged as if it was, so that the sender cannot notice.
  case dropped(scope: AdmissionScope, retryAfterSeconds: Int)
}
