/// How a wake ended; each wake ends once.
public enum WakeOutcome: String, Hashable, Sendable, CaseIterable, Codable {
  /// A platform has accepted it, for at least one of the devices.
  case delivered
  /// It expired before that.
  case expired
  /// Another wake of its type went to the same recipient within two seconds, and replaces both.
  case coalesced
  /// There is no device for it, or each device refuses it permanently.
  case undeliverable
}

/// One push to one device, to be sent now.
public struct PushDelivery: Hashable, Sendable {
  /// The wake to push.
  public let wake: Wake
  /// The device, as the queue knows it at this moment; results are reported with its number.
  public let device: PushDevice
  /// 1 for the first attempt.
  public let attempt: Int
  /// Whether the provider was in trouble, and this is the one push that probes it.
  public let isProbe: Bool
}

/// What the shell does for the delivery queue, in this order.
public enum DeliveryAction: Hashable, Sendable {
  /// Send it, and report the result with ``DeliveryQueue/settled(wake:device:_:at:)``, within a timeout of the shell.
  case send(PushDelivery)
  /// The wake has ended: its row in the ledger is settled.
  case done(wake: Int64, WakeOutcome)
  /// The wake has ended for this device, and continues for others: after a crash it is not pushed to this device again.
  case ended(wake: Int64, device: Int64)
  /// There is room for so many more wakes for devices of this platform. The shell hands in the oldest wakes of the
  /// ledger that the queue had no room for: ``DeliveryQueue/restored(_:on:isAll:at:)``. A wake that expires in the
  /// ledger, because its recipient no longer has a device of that platform, is settled by the ledger.
  case needs(more: Int, on: PushPlatform)
  /// The token is dead. The shell removes the device, unless it has another token by now, or registered again.
  case prune(PushDevice)
  /// Something that a person must know.
  case alarm(PushAlarm)
}
