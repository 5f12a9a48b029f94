/// What a board may hold and how often it may try. Waits are chosen at random in the upper half of a window that
/// doubles with each failure.
public struct DeliveryLimits: Hashable, Sendable {
  /// Wakes in memory that wait for devices of one platform; more stay in the ledger. Each platform has its own, so that
  /// one that takes nothing never fills the room of another.
  public var platformWakeMaximum = 8_192
  /// Pushes under way to APNs.
  public var appleInFlightMaximum = 256
  /// Pushes under way to FCM: as many as are given a connection. One that waited for a connection would have less time
  /// for its answer, and come twice when that came late.
  public var googleInFlightMaximum = 32
  /// Pushes under way to all Web Push services together.
  public var webInFlightMaximum = 128
  /// Pushes under way to one of them.
  public var webHostInFlightMaximum = 8
  /// Pushes under way to those that are slow, or have taken nothing yet, together.
  public var webSlowInFlightMaximum = 64
  /// How long a push may take, in milliseconds, before the service counts as slow.
  public var webSlowMilliseconds: UInt64 = 3_000
  /// Web Push services that are remembered while nothing is under way to them.
  public var laneMaximum = 4_096

  /// Wakes of one type for one recipient that are accepted within this time are one push.
  public var coalescingMilliseconds: Int64 = 2_000
  /// Wakes that others can be coalesced with; beyond it each is a push.
  public var coalescingMaximum = 65_536

  /// First window between attempts, in milliseconds.
  public var retryBaseMilliseconds: UInt64 = 500
  /// Largest of those.
  public var retryCeilingMilliseconds: UInt64 = 15_000
  /// Attempts that the other side did not look at before one counts as a failure.
  public var resendMaximum = 3
  /// Devices that are remembered because they must not be sent anything for a while, with nothing waiting for them.
  public var delayedDeviceMaximum = 65_536

  /// When a provider is left alone.
  public var breaker = BreakerLimits()

  /// The limits above.
  public init() {}

  /// Pushes under way to a platform.
  public func inFlightMaximum(of platform: PushPlatform) -> Int {
    switch platform {
    case .ios: appleInFlightMaximum
    case .android: googleInFlightMaximum
    case .webPush: webInFlightMaximum
    }
  }

  /// Pushes under way to a provider.
  public func inFlightMaximum(of provider: PushProvider) -> Int {
    switch provider {
    case .apple, .google: inFlightMaximum(of: provider.platform)
    case .web: webHostInFlightMaximum
    }
  }
}
