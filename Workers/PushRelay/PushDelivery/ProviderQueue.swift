internal import Clocks
internal import DequeModule

/// What waits for one provider, and how the provider is doing. Recipients take turns, and each recipient's devices do:
/// somebody who is woken a thousand times waits for himself.
struct ProviderQueue: Sendable {
  var breaker: CircuitBreaker
  var inFlightCount = 0
  /// Whether the last push took long; one that goes through in time makes up for it.
  var isSlow = false
  /// Whether it stands in a ring of its platform.
  var isInRing = false
  /// Recipients with devices that are ready, each once.
  private var owners = Deque<PushOwner>()
  /// Devices that are ready, each once; void ones are among them, and whoever takes one looks.
  private var ready: [PushOwner: Deque<Int64>] = [:]

  init(breaker: BreakerLimits) { self.breaker = CircuitBreaker(limits: breaker) }

  var hasReady: Bool { !owners.isEmpty }
  /// Whether nothing is lost when it is forgotten.
  var isIdle: Bool { inFlightCount == 0 && !hasReady && !isInRing }

  func maySend(inFlightMaximum: Int, at instant: Instant) -> Bool {
    hasReady && inFlightCount < inFlightMaximum && breaker.mayBegin(at: instant)
  }

  /// A device comes to the back.
  mutating func append(_ device: Int64, of owner: PushOwner) {
    if ready[owner] == nil { owners.append(owner) }
    ready[owner, default: []].append(device)
  }

  /// The device whose turn it is, or, if it is to be another, the first of those that are waited for by the first
  /// ``lookMaximum`` recipients; the others come to the back.
  mutating func next(preferring isPreferred: (Int64) -> Bool) -> Int64? {
    for _ in 0..<min(owners.count, Self.lookMaximum) {
      guard let owner = owners.first, let device = ready[owner]?.first, !isPreferred(device) else { break }
      owners.append(owners.removeFirst())
    }
    return next()
  }

  /// Recipients that are passed over for another one.
  private static let lookMaximum = 1_024

  /// The device whose turn it is.
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

/// What waits for one device: its wakes in their order, one of them under way at a time. One that has to be tried again
/// keeps its place before the others of its device, while the device goes to the back of the provider's line.
struct DeviceQueue: Sendable {
  /// A push that was sent and has no result yet.
  struct Attempt: Sendable {
    let wake: Int64
    /// As it was when the push was made.
    let device: PushDevice
    let isProbe: Bool
    /// Whether its provider was one of the slow ones.
    let isSlow: Bool
    let began: Instant
  }

  var device: PushDevice
  /// Wakes by number.
  var wakes = Deque<Int64>()
  var inFlight: Attempt?
  /// Until when it waits.
  var due: Instant?
  /// Attempts for the first of `wakes`.
  var attemptCount = 0
  /// Those in a row that the other side did not look at.
  var resendCount = 0
  /// The lane it stands in, ready.
  var readyIn: PushProvider?
  /// Whether the device is none any more; only what is under way is waited for.
  var isRemoved = false

  init(device: PushDevice) { self.device = device }

  /// Takes a wake out; another one becomes the first with no attempts behind it.
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
