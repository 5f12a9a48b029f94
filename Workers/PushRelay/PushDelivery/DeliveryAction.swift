/// How a wake ended; each does once.
public enum WakeOutcome: String, Hashable, Sendable, CaseIterable, Codable {
  /// A platform has taken it, for one of the devices at least.
  case delivered
  /// Its time was over before that.
  case expired
  /// Another one of its kind went to the same recipient within two seconds, and stands for both.
  case coalesced
  /// There is no device for it, or each of them refuses it for good.
  case undeliverable
}

/// One push to one device, to be sent now.
public struct PushDelivery: Hashable, Sendable {
  /// What happened.
  public let wake: Wake
  /// Who is told, as known to the board at this moment; results are given back with its number.
  public let device: PushDevice
  /// 1 for the first attempt.
  public let attempt: Int
  /// Whether the provider was in trouble, and this is the one push that tries it.
  public let isProbe: Bool
}

/// What the shell does for the board, in this order.
public enum DeliveryAction: Hashable, Sendable {
  /// Send it, and tell the result with ``DeliveryQueue/settled(wake:device:_:at:)``, within a time of the shell's own.
  case send(PushDelivery)
  /// The wake has ended: its row in the ledger is settled.
  case done(wake: Int64, WakeOutcome)
  /// The wake has ended for this device, and goes on for others: after a crash it is not brought to this one again.
  case ended(wake: Int64, device: Int64)
  /// There is room again for so many wakes for devices of this platform, of those in the ledger the oldest that the
  /// board had no room for: ``DeliveryQueue/restored(_:on:isAll:at:)``. One that expires in the ledger, because its
  /// recipient has no device of that platform any more, is the ledger's to settle.
  case needs(more: Int, on: PushPlatform)
  /// The token is none any more. The device goes, unless it has another token by now, or registered again.
  case prune(PushDevice)
  /// Something that a person has to know.
  case alarm(PushAlarm)
}
