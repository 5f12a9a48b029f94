internal import Clocks
internal import DequeModule

/// The pushes that wait for one provider, and the provider's state. A fair queue: recipients take turns, and so do the
/// devices of each recipient, so that a recipient with a thousand wakes delays only itself.
struct ProviderQueue: Sendable {
  var breaker: CircuitBreaker
  var inFlightCount = 0
  /// Whether the last push took long; a push that succeeds in time clears it.
  var isSlow = false
  /// Whether it is in a ring of its platform.
  var isInRing = false
  /// Recipients with devices that are ready, each once.
  private var owners = Deque<PushOwner>()
  /// Devices that are ready, each once. Some may no longer be valid; the caller checks the device it takes.
  private var ready: [PushOwner: Deque<Int64>] = [:]

  init(breaker: BreakerLimits) { self.breaker = CircuitBreaker(limits: breaker) }

  var hasReady: Bool { !owners.isEmpty }
  /// Whether the queue can be forgotten without losing anything.
  var isIdle: Bool { inFlightCount == 0 && !hasReady && !isInRing }

  func maySend(inFlightMaximum: Int, at instant: Instant) -> Bool {
    hasReady && inFlightCount < inFlightMaximum && breaker.mayBegin(at: instant)
  }

  /// A device joins at the end.
  mutating func append(_ device: Int64, of owner: PushOwner) {
    if ready[owner] == nil { owners.append(owner) }
    ready[owner, default: []].append(device)
  }

  /// The next device; but if a preferred device is among the next devices of the first ``lookMaximum`` recipients, the
  /// first such device. The recipients before it go to the end.
  mutating func next(preferring isPreferred: (Int64) -> Bool) -> Int64? {
    for _ in 0..<min(owners.count, Self.lookMaximum) {
      guard let owner = owners.first, let device = ready[owner]?.first, !isPreferred(device) else { break }
      owners.append(owners.removeFirst())
    }
    return next()
  }

  /// The maximum number of recipients that are skipped for another one.
  private static let lookMaximum = 1_024

  /// The next device.
  mutating func next() -> Int64? {
    guard let owner = owners.popFirst(), var devices = ready.removeValue(forKey: owner) else { return nil }
    let device = devices.popFirst()
    if !devices.isEmpty {
      ready[owner] = devices
      owners.append(owner)
    }
    return device
  }
}

/// The pushes that wait for one device: its wakes in their order, with at most one push in flight. A wake that must be
/// retried stays before the other wakes of its device, while the device goes to the end of the provider's queue.
struct DeviceQueue: Sendable {
  /// A push that was sent and has no result yet.
  struct Attempt: Sendable {
    let wake: Int64
    /// The device at the time of the push.
    let device: PushDevice
    let isProbe: Bool
    /// Whether its provider was slow.
    let isSlow: Bool
    let began: Instant
  }

  var device: PushDevice
  /// Wakes by number.
  var wakes = Deque<Int64>()
  var inFlight: Attempt?
  /// The end of its wait.
  var due: Instant?
  /// Attempts for the first of `wakes`.
  var attemptCount = 0
  /// Attempts in a row that the server did not process.
  var resendCount = 0
  /// The provider queue in which it is ready.
  var readyIn: PushProvider?
  /// Whether the device was removed; then only the push in flight is awaited.
  var isRemoved = false

  init(device: PushDevice) { self.device = device }

  /// Removes a wake; the next one becomes the first, without earlier attempts.
  mutating func remove(_ wake: Int64) {
    if wakes.first == wake {
      wakes.removeFirst()
      attemptCount = 0
      resendCount = 0
    } else if let index = wakes.firstIndex(of: wake) {
      wakes.remove(at: index)
    }
  }
}
