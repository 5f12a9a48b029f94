internal import Clocks
internal import Cryptography
internal import DequeModule

// Accepts a wake: which devices it is for, whether it joins another wake, and whether there is room.

/// Wakes that later wakes join (coalesce with): the first of a type for a recipient within two seconds. Its push may
/// have been sent by then, so senders of such wakes retry. These wakes do not join another:
///
/// - one with a payload that differs from the other's: the payload would be lost;
/// - a contact's wake, if the other is a stranger's: the push would name the stranger;
/// - a wake for an event: an event comes once, and the recipient would not look for one that came after the push. The
///   watch keeps the number of these wakes small;
/// - a wake of the operator, which has no sender: it tests delivery, so its push must be sent.
struct CoalescedWakes: Sendable {
  struct Key: Hashable, Sendable {
    let recipient: PushOwner
    let type: String
  }

  struct Carrier: Sendable {
    let wake: Int64
    let acceptedAt: Int64
    let devices: Set<Int64>
    let contents: Octets32?
    let isOfContact: Bool
    let end: Instant
  }

  private var carriers: [Key: Carrier] = [:]
  /// In the order of their ends; some may be void.
  private var ends = Deque<(at: Instant, key: Key)>()

  /// The wake that this wake for these devices can join; nil without one.
  func carrier(_ key: Key, of wake: Wake, devices: Set<Int64>, within milliseconds: Int64) -> Int64? {
    guard let carrier = carriers[key], carrier.devices.isSuperset(of: devices),
      wake.joins(carrier.contents, isOfContact: carrier.isOfContact),
      wake.acceptedAt.subtractingReportingOverflow(carrier.acceptedAt).partialValue.magnitude < UInt64(milliseconds)
    else { return nil }
    return carrier.wake
  }

  mutating func enter(_ key: Key, _ carrier: Carrier, maximum: Int) {
    guard ends.count < maximum else { return }
    carriers[key] = carrier
    ends.append((carrier.end, key))
  }

  /// Whether others of its type join this wake.
  func has(_ key: Key, _ wake: Int64) -> Bool { carriers[key]?.wake == wake }

  /// A wake reached no device, so no other wake may join it.
  mutating func forget(_ key: Key, _ wake: Int64) {
    if carriers[key]?.wake == wake { carriers[key] = nil }
  }

  mutating func forgetEnded(at instant: Instant) {
    while let first = ends.first, first.at <= instant {
      ends.removeFirst()
      if let carrier = carriers[first.key], carrier.end <= instant { carriers[first.key] = nil }
    }
  }
}

extension DeliveryQueue {
  mutating func admit(_ wake: Wake, _ devices: [PushDevice], isRestored: Bool, at moment: PushMoment) {
    precondition(wake.number != 0, "a wake is in the ledger before it is on the board")
    guard entries[wake.number] == nil else { return }
    carriers.forgetEnded(at: moment.instant)
    let wanting = devices.filter { wake.isWanted(by: $0.capabilities) && $0.expiresAt > moment.unixSeconds }
    guard !wanting.isEmpty else { return actions.append(.done(wake: wake.number, .undeliverable)) }
    // A clock that was set back must not lengthen the life of a wake.
    let left = min(wake.expiresAt - moment.unixMilliseconds, wake.expiresAt - wake.acceptedAt)
    guard left > 0 else {
      for device in wanting { expiredCounts[device.token.platform, default: 0] += 1 }
      return actions.append(.done(wake: wake.number, .expired))
    }
    let numbers = Set(wanting.map(\.number))
    let key = CoalescedWakes.Key(recipient: wake.recipient, type: wake.type)
    let window = wake.topic == nil && wake.sender != nil ? limits.coalescingMilliseconds : 0
    if carriers.carrier(key, of: wake, devices: numbers, within: window) != nil {
      return actions.append(.done(wake: wake.number, .coalesced))
    }
    let platforms = Set(wanting.map(\.token.platform))
    // The wake stays in the ledger; the queue requests it when there is room.
    guard hasRoom(on: platforms, isRestored: isRestored) else { return }
    if window > 0 {
      let end = moment.instant.advanced(milliseconds: UInt64(window))
      carriers.enter(
        key,
        .init(
          wake: wake.number, acceptedAt: wake.acceptedAt, devices: numbers, contents: wake.contents,
          isOfContact: wake.isOfContact, end: end),
        maximum: limits.coalescingMaximum)
    }
    let expiry = moment.instant.advanced(milliseconds: UInt64(left))
    entries[wake.number] = Entry(wake: wake, expiry: expiry, platforms: platforms, open: numbers)
    reminders.add(.expiry(wake.number), at: expiry)
    for platform in platforms { shares[platform]?.wakeCount += 1 }
    for device in wanting where lines[device.number]?.wakes.last != wake.number {
      if let known = lines[device.number]?.device, known.registeredAt <= device.registeredAt { change(to: device) }
      lines[device.number, default: DeviceQueue(device: device)].wakes.append(wake.number)
      lines[device.number]?.isRemoved = false
      lineUp(device.number)
    }
  }

  /// Updates a device to its state in the ledger. A new token ends the device's wait and clears its failures.
  mutating func change(to device: PushDevice) {
    guard let old = lines[device.number]?.device else { return }
    lines[device.number]?.device = device
    lines[device.number]?.isRemoved = false
    guard old.token != device.token else { return }
    shares[old.token.platform]?.suspects.forget(device.number)
    shares[old.token.platform]?.witnesses.forget(device.number)
    lines[device.number]?.due = nil
    lineUp(device.number)
  }

  /// Room on one of the platforms is enough: a platform that accepts nothing must not delay pushes to another.
  private mutating func hasRoom(on platforms: Set<PushPlatform>, isRestored: Bool) -> Bool {
    let withRoom = platforms.filter { platform in
      guard let share = shares[platform] else { return false }
      // A new wake must not overtake older ones that are still in the ledger.
      return share.wakeCount < limits.platformWakeMaximum && (isRestored || !share.hasMore)
    }
    if !withRoom.isEmpty { return true }
    for platform in platforms {
      shares[platform]?.hasMore = true
      if shares[platform]?.isAsking == true { shares[platform]?.hasMoreSinceAsking = true }
    }
    return false
  }

  /// Requests more wakes once half of a platform's room is free, so that requests are few and large.
  mutating func askForMore(_ platform: PushPlatform) {
    guard let share = shares[platform], share.hasMore, !share.isAsking,
      share.wakeCount <= limits.platformWakeMaximum / 2
    else { return }
    shares[platform]?.isAsking = true
    shares[platform]?.hasMoreSinceAsking = false
    actions.append(.needs(more: limits.platformWakeMaximum - share.wakeCount, on: platform))
  }
}
