public import PushDelivery

/// A wake that asks to be let through.
public struct WakeAsk: Hashable, Sendable {
  /// What it costs the recipient.
  public enum Charge: String, Hashable, Sendable, CaseIterable {
    /// A part of the share that strangers cannot take: a contact, or somebody with a ticket.
    case contact
    /// A part of what all strangers share.
    case stranger
    /// Nothing: it joins a push that is to go out anyway, or the recipient will not hear of it.
    case nothing
  }

  /// Who asks; nil: this machine.
  public var sender: PushOwner?
  /// Who is to be woken.
  public var recipient: PushOwner
  /// What it costs the recipient.
  public var charge: Charge
  /// Whether the sender is told that the recipient has no room. Then he has spent nothing; else he has spent what he
  /// would have if there were room, so that he cannot tell.
  public var isTold: Bool
  /// How many pushes it makes, as the recipient counts them; 1 to 10.
  public var pushCount: Int

  /// Most pushes of one wake.
  public static let pushCountMaximum = 10

  /// A wake. Where nothing is said of it, contacts are told how things are, and others are not.
  public init(sender: PushOwner?, recipient: PushOwner, charge: Charge, isTold: Bool? = nil, pushCount: Int = 1) {
    self.sender = sender
    self.recipient = recipient
    self.charge = charge
    self.isTold = isTold ?? (charge == .contact)
    self.pushCount = min(max(pushCount, 1), Self.pushCountMaximum)
  }
}

/// What is used up.
public enum AdmissionScope: String, Hashable, Sendable, CaseIterable {
  /// What the whole relay takes.
  case global
  /// What one network may send.
  case address
  /// What one sender may send in a minute.
  case senderMinute = "sender_minute"
  /// What one sender may send in an hour.
  case senderHour = "sender_hour"
  /// What one sender may send to one recipient.
  case pair
  /// What a recipient hears from all strangers.
  case strangers
  /// What a recipient hears.
  case recipient
  /// Registrations of one owner.
  case registrations
  /// Registrations from one network.
  case addressRegistrations = "address_registrations"
  /// Lists and rules that one owner writes.
  case changes
  /// Lists and rules that are written from one network.
  case addressChanges = "address_changes"
}

/// What the limits say.
public enum AdmissionVerdict: Hashable, Sendable {
  /// Let through, and spent.
  case admitted
  /// Not let through, which may be told: after so many seconds (at least 1) there is room again, unless somebody else
  /// takes it. Nothing is spent.
  case limited(retryAfterSeconds: Int, scope: AdmissionScope)
  /// Not let through at the recipient's side, which is nobody else's to know: it is answered as if it had been let
  /// through. What the sender may send is spent as if it had been, too, so that he cannot tell.
  case dropped(scope: AdmissionScope, retryAfterSeconds: Int)
}
