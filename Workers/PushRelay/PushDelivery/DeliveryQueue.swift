public import Clocks
internal import DequeModule

// Decides which wake is sent to which device next. The ledger keeps the queue of wakes on disk.
//
//   accepted ──▶ coalesced                      another of its kind is on its way to the same devices
//            ──▶ waiting ──▶ in flight ──▶ delivered
//                  ▲  │          ├──────▶ undeliverable   the token is dead or refused, or the message is ours to mend
//                  └──│──────────┘ again, after a wait
//                     └──▶ expired              a wake that is too late is counted and never sent
//
// The drawing shows a wake's states for one device. A wake ends when it has ended for each of its devices: as delivered
// if it reached one of them, else as expired if it expired for one of them.
//
// There are three levels of queues. Each device has a queue of its wakes, in order, with at most one push in flight.
// Devices wait in the lane of their provider, where recipients take turns. The lanes of a platform take turns for the
// platform's share of pushes in flight; Web Push services that are slow, or have accepted nothing yet, get only a part
// of it (`DeliveryQueue+Slowness.swift`). Each platform has its own share, its own lanes and its own room in memory, so
// a platform that accepts nothing delays no other. Wakes that find no room stay in the ledger. No later wake overtakes
// them, except a wake for several platforms of which one has room.
//
// A value without I/O; time and the seed of its randomness come from outside. The shell makes the message when it must
// send it, because the message contains the seconds that are left. After a crash the shell hands in the ledger's open
// wakes again: a push that was in flight is sent once more, with the same `apns-id`.

/// Wakes on their way to devices.
public struct DeliveryQueue: Sendable {
  /// A wake in memory.
  struct Entry: Sendable {
    let wake: Wake
    let expiry: Instant
    let platforms: Set<PushPlatform>
    /// Devices for which the wake has not ended.
    var open: Set<Int64>
    var isDelivered = false
    var isExpired = false
  }

  /// What a timer is for: the end of a wake, a device's next attempt, the time when a provider's breaker lets a probe
  /// through.
  enum Reminder: Sendable {
    case expiry(Int64)
    case line(Int64)
    case lane(PushProvider)
  }

  /// One platform's share.
  struct Share: Sendable {
    /// Lanes that may send, each once; they take turns.
    var ring = Deque<PushProvider>()
    /// Lanes that may send but are limited to a part of the share.
    var slowRing = Deque<PushProvider>()
    var inFlightCount = 0
    /// Pushes in flight that were sent while their provider was slow.
    var slowInFlightCount = 0
    var wakeCount = 0
    var suspects = SuspectTokens()
    var witnesses = Witnesses()
    /// Set when a push succeeded before this queue was made; nil again after the first success since then.
    var earlierSuccess: EarlierSuccess?
    /// Whether the platform is switched off.
    var isDown = false
    /// Whether wakes stayed in the ledger because there was no room.
    var hasMore = false
    /// Whether the queue has requested them and waits for the answer.
    var isAsking = false
    /// Whether more wakes stayed in the ledger since that request.
    var hasMoreSinceAsking = false
  }

  /// The bounds.
  public let limits: DeliveryLimits
  var entries: [Int64: Entry] = [:]
  var lines: [Int64: DeviceQueue] = [:]
  var lanes: [PushProvider: ProviderQueue] = [:]
  var shares: [PushPlatform: Share] = [:]
  var carriers = CoalescedWakes()
  var reminders = Deadlines<Instant, Reminder>()
  var generator: SeededGenerator
  var actions: [DeliveryAction] = []
  var expiredCounts: [PushPlatform: UInt64] = [:]
  /// Whether the queue sends nothing new.
  private var isClosed = false

  /// An empty queue. `seed` makes the waits random.
  public init(limits: DeliveryLimits = DeliveryLimits(), seed: UInt64) {
    self.limits = limits
    generator = SeededGenerator(seed: seed)
    for platform in PushPlatform.allCases { shares[platform] = Share() }
  }

  // MARK: State

  /// The number of wakes in memory.
  public var count: Int { entries.count }

  /// Whether a wake is in memory, so that the shell hands it in only once.
  public func has(_ wake: Int64) -> Bool { entries[wake] != nil }

  /// Pushes that were sent and have no result yet.
  public var inFlightCount: Int { shares.values.reduce(0) { $0 + $1.inFlightCount } }

  /// The same, for one platform.
  public func inFlightCount(of platform: PushPlatform) -> Int { shares[platform]?.inFlightCount ?? 0 }

  /// The number of wakes in memory for devices of one platform.
  public func wakeCount(of platform: PushPlatform) -> Int { shares[platform]?.wakeCount ?? 0 }

  /// The number of pushes to a platform that expired since the queue was made: one for each device of a wake.
  public func expiredCount(of platform: PushPlatform) -> UInt64 { expiredCounts[platform] ?? 0 }

  /// The state of a provider's circuit breaker.
  public func breaker(of provider: PushProvider) -> CircuitBreaker.State {
    lanes[provider]?.breaker.state ?? .closed(failureCount: 0)
  }

  /// When the shell must call ``timerFired(at:)``; nil for never.
  public var deadline: Instant? { reminders.first }

  /// Whether other wakes of its type can join this one now, because its push is still on the way or has succeeded.
  public func standsForOthers(_ wake: Wake) -> Bool {
    carriers.has(CoalescedWakes.Key(recipient: wake.recipient, type: wake.type), wake.number)
  }

  // MARK: Inputs

  /// A wake was accepted and is in the ledger.
  ///
  /// - Parameters:
  ///   - wake: the wake, with its number.
  ///   - devices: the recipient's devices; this method leaves out those that do not want the wake, or have expired.
  ///   - moment: now.
  public mutating func accepted(
    _ wake: Wake, for devices: [PushDevice], at moment: PushMoment
  ) -> [DeliveryAction] {
    admit(wake, devices, isRestored: false, at: moment)
    return finish(at: moment.instant)
  }

  /// Wakes from the ledger, in its order, because the queue requested more. The queue skips wakes that are in memory.
  /// The caller must leave out wakes that have ended, even if the ledger has not recorded the end yet.
  ///
  /// - Parameters:
  ///   - wakes: each with its recipient's devices.
  ///   - platform: the platform for which the queue requested them.
  ///   - isAll: whether the ledger has no further wakes for this platform among those that were handed in before.
  ///   - moment: now.
  public mutating func restored(
    _ wakes: [(wake: Wake, devices: [PushDevice])], on platform: PushPlatform, isAll: Bool, at moment: PushMoment
  ) -> [DeliveryAction] {
    let hasMoreSinceAsking = shares[platform]?.hasMoreSinceAsking ?? false
    shares[platform]?.hasMore = !isAll || hasMoreSinceAsking
    shares[platform]?.isAsking = false
    shares[platform]?.hasMoreSinceAsking = false
    for (wake, devices) in wakes { admit(wake, devices, isRestored: true, at: moment) }
    return finish(at: moment.instant)
  }

  /// The timer has fired.
  public mutating func timerFired(at moment: PushMoment) -> [DeliveryAction] {
    fireReminders(at: moment.instant)
    return finish(at: moment.instant)
  }

  /// A platform is switched off for the life of this queue: its wakes wait.
  public mutating func platformDown(_ platform: PushPlatform) { shares[platform]?.isDown = true }

  /// A push to this platform succeeded before this queue was made, with the present settings. So refused tokens are a
  /// weaker sign of a fault of the settings. This has no effect for Web Push, which has no settings.
  public mutating func wentThroughBefore(_ platform: PushPlatform) {
    if platform != .webPush { shares[platform]?.earlierSuccess = EarlierSuccess() }
  }

  /// A device registered again: its waiting wakes go to its present token.
  public mutating func deviceChanged(_ device: PushDevice, at moment: PushMoment) -> [DeliveryAction] {
    change(to: device)
    return finish(at: moment.instant)
  }

  /// A device was removed.
  public mutating func deviceRemoved(_ device: Int64, at moment: PushMoment) -> [DeliveryAction] {
    drop(device)
    return finish(at: moment.instant)
  }

  /// The process is about to end: the queue sends nothing new. Pushes in flight are finished; the rest stays in the
  /// ledger.
  public mutating func close() { isClosed = true }

  // MARK: Sending

  /// Ends each input: sends what may be sent, and returns the actions for the shell.
  mutating func finish(at instant: Instant) -> [DeliveryAction] {
    if !isClosed { for platform in PushPlatform.allCases { pump(platform, at: instant) } }
    for platform in PushPlatform.allCases { askForMore(platform) }
    dropVoidReminders()
    defer { actions = [] }
    return actions
  }

  private mutating func pump(_ platform: PushPlatform, at instant: Instant) {
    let maximum = limits.inFlightMaximum(of: platform)
    while let share = shares[platform], !share.isDown, share.inFlightCount < maximum,
      let provider = nextProvider(of: platform)
    {
      lanes[provider]?.isInRing = false
      let bound = limits.inFlightMaximum(of: provider)
      guard lanes[provider]?.maySend(inFlightMaximum: bound, at: instant) == true,
        let device = nextDevice(in: provider)
      else { continue }
      send(to: device, in: provider, at: instant)
      enlist(provider, at: instant)
    }
  }

  /// The next device of a lane. While the provider is in trouble, it prefers a device whose last push did not fail as
  /// the probe, because one bad token must not decide again and again that the provider still fails.
  private mutating func nextDevice(in provider: PushProvider) -> Int64? {
    guard lanes[provider]?.breaker.isClosed == false, let witnesses = shares[provider.platform]?.witnesses else {
      return lanes[provider]?.next()
    }
    return lanes[provider]?.next { !witnesses.isAccused($0) }
  }

  private mutating func send(to number: Int64, in provider: PushProvider, at instant: Instant) {
    // Since it joined the lane, the device may have moved to another provider, or may have nothing left to send.
    guard var line = lines[number], line.readyIn == provider else { return }
    line.readyIn = nil
    lines[number] = line
    guard line.device.token.provider == provider, let wake = line.wakes.first, let entry = entries[wake] else {
      return lineUp(number)
    }
    if entry.expiry <= instant { return expire(wake) }
    let isProbe = lanes[provider]?.breaker.begun(at: instant) ?? false
    line.attemptCount += 1
    let isSlow = isSlow(provider)
    line.inFlight = DeviceQueue.Attempt(
      wake: wake, device: line.device, isProbe: isProbe, isSlow: isSlow, began: instant)
    lines[number] = line
    lanes[provider]?.inFlightCount += 1
    shares[provider.platform]?.inFlightCount += 1
    if isSlow { shares[provider.platform]?.slowInFlightCount += 1 }
    actions.append(
      .send(
        PushDelivery(wake: entry.wake, device: line.device, attempt: line.attemptCount, isProbe: isProbe)))
  }

  /// A lane that may send joins its platform's ring at the end.
  mutating func enlist(_ provider: PushProvider, at instant: Instant?) {
    guard let lane = lanes[provider], !lane.isInRing, lane.hasReady,
      lane.inFlightCount < limits.inFlightMaximum(of: provider)
    else { return }
    if let instant, !lane.breaker.mayBegin(at: instant) { return }
    lanes[provider]?.isInRing = true
    if isSlow(provider) {
      shares[provider.platform]?.slowRing.append(provider)
    } else {
      shares[provider.platform]?.ring.append(provider)
    }
  }

  /// A device that has a wake and need not wait joins its provider's lane at the end.
  mutating func lineUp(_ number: Int64) {
    guard let line = lines[number], line.inFlight == nil, line.due == nil else { return }
    guard !line.wakes.isEmpty else {
      lines[number] = nil
      return
    }
    let provider = line.device.token.provider
    guard line.readyIn != provider else { return }
    lines[number]?.readyIn = provider
    lanes[provider, default: ProviderQueue(breaker: limits.breaker)].append(number, of: line.device.owner)
    // Its turn decides whether the breaker lets the lane send.
    enlist(provider, at: nil)
  }
}
