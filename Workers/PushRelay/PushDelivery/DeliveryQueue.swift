public import Clocks
internal import DequeModule

// Which wake goes to which device next, over the queue that the ledger keeps.
//
//   accepted ──▶ coalesced                      another of its kind is on its way to the same devices
//            ──▶ waiting ──▶ in flight ──▶ delivered
//                  ▲  │          ├──────▶ undeliverable   the token is dead or refused, or the message is ours to mend
//                  └──│──────────┘ again, after a wait
//                     └──▶ expired              a wake that is too late is counted and never sent
//
// This is the way of one device. A wake ends when it has for each of its devices: delivered if any of them was reached,
// else expired if any might have been.
//
// What waits stands in lines: one for each device, in order, with one push under way; devices wait in the lane of their
// provider, recipients taking turns; lanes of one platform take turns for the platform's share of pushes under way, of
// which services of Web Push that are slow, or have taken nothing yet, have a part (`DeliveryQueue+Slowness.swift`). A
// platform that takes nothing has its own share, its own lanes and its own room in memory, and delays nobody else. What
// finds no room stays in the ledger; nothing that comes later overtakes it, except a wake for several platforms, one of
// which has room.
//
// A value without I/O, clock or chance of its own. The shell makes the message when it is told to send one, because
// the seconds that are left stand in it. After a crash the ledger's open wakes are handed in again: what was under way
// is sent once more, with the same `apns-id`.

/// Wakes on their way to devices.
public struct DeliveryQueue: Sendable {
  /// A wake in memory.
  struct Entry: Sendable {
    let wake: Wake
    let expiry: Instant
    let platforms: Set<PushPlatform>
    /// Devices for which it has not ended.
    var open: Set<Int64>
    var isDelivered = false
    var isExpired = false
  }

  /// Something that comes with time: the end of a wake, a device's next attempt, the reopening of a provider's breaker.
  enum Reminder: Sendable {
    case expiry(Int64)
    case line(Int64)
    case lane(PushProvider)
  }

  /// One platform's share.
  struct Share: Sendable {
    /// Lanes that may send, each once, in turn.
    var ring = Deque<PushProvider>()
    /// Those of them that may hold a part of the share only.
    var slowRing = Deque<PushProvider>()
    var inFlightCount = 0
    /// Pushes under way that were begun as theirs.
    var slowInFlightCount = 0
    var wakeCount = 0
    var suspects = SuspectTokens()
    var witnesses = Witnesses()
    /// That a push went through before this board was made; nil also once one has since.
    var earlierSuccess: EarlierSuccess?
    /// Whether it is switched off.
    var isDown = false
    /// Whether wakes were left in the ledger for want of room.
    var hasMore = false
    /// Whether they have been asked for.
    var isAsking = false
    /// Whether more were left since then.
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
  /// Whether nothing new is sent.
  private var isClosed = false

  /// An empty board. `seed` is for the waits.
  public init(limits: DeliveryLimits = DeliveryLimits(), seed: UInt64) {
    self.limits = limits
    generator = SeededGenerator(seed: seed)
    for platform in PushPlatform.allCases { shares[platform] = Share() }
  }

  // MARK: What is there

  /// Wakes in memory.
  public var count: Int { entries.count }

  /// Whether a wake is in memory; it is handed in once.
  public func has(_ wake: Int64) -> Bool { entries[wake] != nil }

  /// Pushes that were sent and have no result yet.
  public var inFlightCount: Int { shares.values.reduce(0) { $0 + $1.inFlightCount } }

  /// The same, of one platform.
  public func inFlightCount(of platform: PushPlatform) -> Int { shares[platform]?.inFlightCount ?? 0 }

  /// Wakes in memory for devices of one platform.
  public func wakeCount(of platform: PushPlatform) -> Int { shares[platform]?.wakeCount ?? 0 }

  /// Pushes to a platform, since the board was made, that came to be too late: one for each device of a wake.
  public func expiredCount(of platform: PushPlatform) -> UInt64 { expiredCounts[platform] ?? 0 }

  /// How a provider stands.
  public func breaker(of provider: PushProvider) -> CircuitBreaker.State {
    lanes[provider]?.breaker.state ?? .closed(failureCount: 0)
  }

  /// When ``timerFired(at:)`` is wanted; nil for never.
  public var deadline: Instant? { reminders.first }

  /// Whether another wake of its kind would join this one now: it goes, or went, to somebody.
  public func standsForOthers(_ wake: Wake) -> Bool {
    carriers.has(CoalescedWakes.Key(recipient: wake.recipient, type: wake.type), wake.number)
  }

  // MARK: What happens

  /// A wake was accepted and is in the ledger.
  ///
  /// - Parameters:
  ///   - wake: with its number.
  ///   - devices: its recipient's; those that do not want it, or have expired, are left out here.
  ///   - moment: now.
  public mutating func accepted(
    _ wake: Wake, for devices: [PushDevice], at moment: PushMoment
  ) -> [DeliveryAction] {
    admit(wake, devices, isRestored: false, at: moment)
    return finish(at: moment.instant)
  }

  /// Wakes that the ledger has, in its order, because the board needs more. Those that are in memory are passed over;
  /// one that has ended is none of them, though the ledger may not have heard of it.
  ///
  /// - Parameters:
  ///   - wakes: each with its recipient's devices.
  ///   - platform: for whose devices it was asked.
  ///   - isAll: whether the ledger has no other of those that were handed in before.
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

  /// Time has passed.
  public mutating func timerFired(at moment: PushMoment) -> [DeliveryAction] {
    fireReminders(at: moment.instant)
    return finish(at: moment.instant)
  }

  /// A platform is switched off, as long as this board lives: its wakes wait.
  public mutating func platformDown(_ platform: PushPlatform) { shares[platform]?.isDown = true }

  /// A push went through to this platform before this board was made, with the settings that there are now: tokens that
  /// are refused say less of it. Of Web Push, where there is nothing to set, it says nothing.
  public mutating func wentThroughBefore(_ platform: PushPlatform) {
    if platform != .webPush { shares[platform]?.earlierSuccess = EarlierSuccess() }
  }

  /// A device registered again: what waits goes to its token as it is now.
  public mutating func deviceChanged(_ device: PushDevice, at moment: PushMoment) -> [DeliveryAction] {
    change(to: device)
    return finish(at: moment.instant)
  }

  /// A device is none any more.
  public mutating func deviceRemoved(_ device: Int64, at moment: PushMoment) -> [DeliveryAction] {
    drop(device)
    return finish(at: moment.instant)
  }

  /// The process is to end: nothing new is sent. What is under way comes to its end; the rest stays in the ledger.
  public mutating func close() { isClosed = true }

  // MARK: Inside

  /// What the shell is to do, after all that can be sent is.
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

  /// Of those that wait for a provider in trouble the first whose last push did not fail is the probe: one bad token
  /// must not be asked again and again how the provider is.
  private mutating func nextDevice(in provider: PushProvider) -> Int64? {
    guard lanes[provider]?.breaker.isClosed == false, let witnesses = shares[provider.platform]?.witnesses else {
      return lanes[provider]?.next()
    }
    return lanes[provider]?.next { !witnesses.isAccused($0) }
  }

  private mutating func send(to number: Int64, in provider: PushProvider, at instant: Instant) {
    // It may have gone elsewhere, or have nothing left, since it was lined up.
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

  /// A lane that may send comes to the back of its platform's ring.
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

  /// A device with something to send, and nothing that holds it back, comes to the back of its provider's line.
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
    // Whether it may send is looked at when its turn comes.
    enlist(provider, at: nil)
  }
}
