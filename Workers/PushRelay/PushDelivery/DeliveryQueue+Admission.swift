internal import Clocks
internal import Cryptography
internal import DequeModule

// What comes in: for whom it is, whether another stands for it, and whether there is room.

/// Wakes that others are coalesced with: the first of a type for a recipient within two seconds. The push may have gone
/// by then: whoever sends such wakes tries again. One that brings something of its own is coalesced with none: what its
/// sender wanted brought would be lost; and a contact's with none of a stranger's, whom the push would name. An event
/// comes once, and what came behind the push would not be looked for, so wakes for events stand for no others: that
/// they are few is the watch's affair. Nor does one of the operator's, which has no sender: whoever tries the way wants
/// to see the push.
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
  /// In the order of their ends; void ones are among them.
  private var ends = Deque<(at: Instant, key: Key)>()

  /// The wake that stands for another of its kind, for these devices; nil when none does.
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

  /// Whether this wake is the one that others of its kind join.
  func has(_ key: Key, _ wake: Int64) -> Bool { carriers[key]?.wake == wake }

  /// A wake reached nobody: it stands for no other.
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
    // A clock that was set back makes no wake live longer than it was to.
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
    // It stays in the ledger, and is asked for when there is room.
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

  /// A device is as the ledger has it now. With another token it need not rest, and nothing is held against it.
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

  /// Room on one of its platforms is enough: a platform that takes nothing must not hold back what goes to another.
  private mutating func hasRoom(on platforms: Set<PushPlatform>, isRestored: Bool) -> Bool {
    let withRoom = platforms.filter { platform in
      guard let share = shares[platform] else { return false }
      // What is new stays behind what is older and still in the ledger.
      return share.wakeCount < limits.platformWakeMaximum && (isRestored || !share.hasMore)
    }
    if !withRoom.isEmpty { return true }
    for platform in platforms {
      shares[platform]?.hasMore = true
      if shares[platform]?.isAsking == true { shares[platform]?.hasMoreSinceAsking = true }
    }
    return false
  }

  /// Asks once half of a platform's room is free, so that it is asked seldom and for many.
  mutating func askForMore(_ platform: PushPlatform) {
    guard let share = shares[platform], share.hasMore, !share.isAsking,
      share.wakeCount <= limits.platformWakeMaximum / 2
    else { return }
    shares[platform]?.isAsking = true
    shares[platform]?.hasMoreSinceAsking = false
    actions.append(.needs(more: limits.platformWakeMaximum - share.wakeCount, on: platform))
  }
}
