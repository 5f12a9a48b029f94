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

/// What a person who runs the relay has to know. It names no device and nobody who is woken.
public enum PushAlarm: Hashable, Sendable {
  /// Nothing goes through until somebody mends our side.
  case fault(PushProvider, PushReason)
  /// One token after the other is refused: the wrong environment or the wrong project, most likely. None was removed.
  case everyTokenRefused(PushProvider, PushReason)
  /// The provider is in trouble and is left alone for a while.
  case trouble(PushProvider, PushReason)
  /// The platform does not understand what it was sent: a bug of the relay.
  case message(PushProvider, PushReason)
}

/// What the shell does for the board, in this order.
public enum DeliveryAction: Hashable, Sendable {
  /// Send it, and tell the result with ``DeliveryBoard/settled(wake:device:_:at:)``, within a time of the shell's own.
  case send(PushDelivery)
  /// The wake has ended: its row in the ledger is settled.
  case done(wake: Int64, WakeOutcome)
  /// The wake has ended for this device, and goes on for others: after a crash it is not brought to this one again.
  case ended(wake: Int64, device: Int64)
  /// There is no room: the wake stays in the ledger, and is asked for by ``needs(more:on:)``. One that expires there,
  /// because its recipient has no device of that platform any more, is the ledger's to settle.
  case deferred(wake: Int64)
  /// There is room again for so many wakes for devices of this platform, of those in the ledger the oldest that the
  /// board has not: ``DeliveryBoard/restored(_:on:isAll:at:)``.
  case needs(more: Int, on: PushPlatform)
  /// The token is none any more. The device goes, unless it has another token by now, or registered anew.
  case prune(PushDevice)
  /// Nothing is sent to this device before then, in Unix milliseconds.
  case delayToken(device: Int64, untilMilliseconds: Int64)
  /// Something that a person has to know.
  case alarm(PushAlarm)
}
