/// How much a delivery queue may hold, and how often it may try. Waits are chosen at random from the upper half of a
/// window that doubles with each failure.
public struct DeliveryLimits: Hashable, Sendable {
  /// Wakes in memory that wait for devices of one platform; further ones stay in the ledger. Each platform has its own
  /// limit, so that a platform that accepts nothing never uses up the room of another.
  public var platformWakeMaximum = 8_192
  /// Pushes in flight to APNs.
  public var appleInFlightMaximum = 256
  /// Pushes in flight to FCM: as many as get a connection. A push that waited for a connection would have less time for
  /// its answer, and would be sent twice when the answer came late.
  public var googleInFlightMaximum = 32
  /// Pushes in flight to all Web Push services together.
  public var webInFlightMaximum = 128
  /// Pushes in flight to one Web Push service.
  public var webHostInFlightMaximum = 8
  /// Pushes in flight to all services together that are slow or have accepted nothing yet.
  public var webSlowInFlightMaximum = 64
  /// How long a push may take, in milliseconds, before the service counts as slow.
  public var webSlowMilliseconds: UInt64 = 3_000
  /// Web Push services that are remembered while no push is in flight to them.
  public var laneMaximum = 4_096

  /// Wakes of one type for one recipient that are accepted within this time become one push.
  public var coalescingMilliseconds: Int64 = 2_000
  /// The maximum number of wakes that later ones can join; each further wake is a push of its own.
  public var coalescingMaximum = 65_536

  /// The first window between attempts, in milliseconds.
  public var retryBaseMilliseconds: UInt64 = 500
  /// The largest window between attempts.
  public var retryCeilingMilliseconds: UInt64 = 15_000
  /// Attempts that the server did not process before one counts as a failure.
  public var resendMaximum = 3
  /// Devices that are remembered because they must not receive a push for a while, although nothing waits for them.
  public var delayedDeviceMaximum = 65_536

  /// When a provider is left alone.
  public var breaker = BreakerLimits()

  /// The default limits.
  public init() {}

  /// Pushes in flight to a platform.
  public func inFlightMaximum(of platform: PushPlatform) -> Int {
    switch platform {
    case .ios: appleInFlightMaximum
    case .android: googleInFlightMaximum
    case .webPush: webInFlightMaximum
    }
  }

  /// Pushes in flight to a provider.
  public func inFlightMaximum(of provider: PushProvider) -> Int {
    switch provider {
    case .apple, .google: inFlightMaximum(of: provider.platform)
    case .web: webHostInFlightMaximum
    }
  }
}
