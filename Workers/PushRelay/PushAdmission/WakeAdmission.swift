public import Addresses
internal import Cryptography
public import PushDelivery

// Whether every limit has room for a wake.
//
// All windows are checked first and charged afterwards, so a wake that one window refuses costs nothing in the others.
// And a refusal makes no entry in any table: a flood that the relay's own limit stops fills nothing.
//
//     the relay          6,000 requests a minute
//     the network          600 requests a minute, an IPv4 address or an IPv6 /64
//     the sender            10 wakes a minute, 100 an hour          these three: 429
//     the pair              60 pushes an hour for a contact, 10 for a stranger
//     all strangers         20 pushes an hour to one recipient
//     the recipient        100 pushes an hour                       these three: 429 if the sender may know it
//
// In addition an owner may register 30 times an hour and write lists 60 times; a network 120 and 240 times.
//
// Strangers share one small window at each recipient, since keys cost nothing: a thousand strangers count as one. It is
// inside the recipient's window, so 80 pushes an hour remain for contacts, whatever strangers do; contacts may also use
// what strangers leave.
//
// If a wake is dropped at the recipient's side and the sender must not know, the sender's windows are charged as if
// there were room, and the answer is the same. Otherwise the sender would recognize a full recipient by its own limits,
// which would be reached later or never. All of this counts in the same way for unknown recipients.

/// All the windows: a value that one owner changes.
public struct WakeAdmission: Sendable {
  private let limits: AdmissionLimits
  private let hashKey: (UInt64, UInt64)
  private var clock: SteadyClock
  private var global = SlidingWindow()
  private var addresses: WindowTable
  private var senderMinutes: WindowTable
  private var senderHours: WindowTable
  private var pairs: WindowTable
  private var strangers: WindowTable
  private var recipients: WindowTable
  private var registrations: WindowTable
  private var addressRegistrations: WindowTable
  private var changes: WindowTable
  private var addressChanges: WindowTable

  /// Nothing is spent yet.
  ///
  /// - Parameters:
  ///   - limits: the limits.
  ///   - hashKey: two random words, which must stay secret.
  ///   - now: Unix seconds.
  public init(limits: AdmissionLimits = AdmissionLimits(), hashKey: (UInt64, UInt64), now: Int64) {
    self.limits = limits
    self.hashKey = hashKey
    clock = SteadyClock(now: now)
    func table(_ rule: WindowRule, hasShadows: Bool = false) -> WindowTable {
      WindowTable(rule: rule, keyMaximum: limits.keyMaximum, hasShadows: hasShadows)
    }
    addresses = table(.perMinute(limits.addressPerMinute))
    senderMinutes = table(.perMinute(limits.senderPerMinute))
    senderHours = table(.perHour(limits.senderPerHour))
    pairs = table(.perHour(max(limits.contactPairPerHour, limits.strangerPairPerHour)))
    // Other keys than the window's own spend here, so eviction must forget nothing.
    strangers = table(.perHour(limits.strangersPerHour), hasShadows: true)
    recipients = table(.perHour(limits.recipientPerHour), hasShadows: true)
    registrations = table(.perHour(limits.registrationsPerHour))
    addressRegistrations = table(.perHour(limits.addressRegistrationsPerHour))
    changes = table(.perHour(limits.changesPerHour))
    addressChanges = table(.perHour(limits.addressChangesPerHour))
  }

  /// Keys in all tables.
  public var keyCount: Int {
    Self.tables.reduce(0) { $0 + self[keyPath: $1].count }
  }

  // MARK: Admission

  /// A request that has just arrived, before its signature is verified.
  ///
  /// - Parameters:
  ///   - address: the client's address; nil if it is unknown.
  ///   - now: Unix seconds.
  public mutating func admit(requestFrom address: IPAddress?, now: Int64) -> AdmissionVerdict {
    let now = clock.tell(now)
    var waits = Waits()
    waitForRequest(address, &waits, now)
    if let verdict = waits.limited { return verdict }
    chargeRequest(address, now)
    return .admitted
  }

  /// A wake with a valid signature; as a request it was admitted before.
  ///
  /// - Parameters:
  ///   - ask: the wake.
  ///   - now: Unix seconds.
  public mutating func admit(_ ask: WakeAsk, now: Int64) -> AdmissionVerdict {
    let now = clock.tell(now)
    var ofSender = Waits()
    let senderKey = ask.sender.map { hash(1, $0.bytes) }
    if let senderKey {
      ofSender.add(senderMinutes.wait(for: 1, senderKey, now: now), .senderMinute)
      ofSender.add(senderHours.wait(for: 1, senderKey, now: now), .senderHour)
    }
    let ofRecipient = waitForRecipient(ask, now)
    // One answer has the longest of all waits, so that no other limit refuses the sender after that wait.
    if ask.isTold, let (wait, scope) = ofRecipient.longest { ofSender.add(Int64(wait), scope) }
    if let verdict = ofSender.limited { return verdict }
    if let senderKey {
      senderMinutes.spend(1, senderKey, now: now)
      senderHours.spend(1, senderKey, now: now)
    }
    if let (wait, scope) = ofRecipient.longest { return .dropped(scope: scope, retryAfterSeconds: wait) }
    chargeRecipient(ask, now)
    return .admitted
  }

  /// A registration with a valid signature.
  ///
  /// - Parameters:
  ///   - owner: the key that signed it.
  ///   - address: the client's address; nil if it must not count.
  ///   - now: Unix seconds.
  public mutating func admit(registrationBy owner: PushOwner, from address: IPAddress?, now: Int64) -> AdmissionVerdict
  {
    let now = clock.tell(now)
    var waits = Waits()
    let ownerKey = hash(5, owner.bytes)
    let addressKey = address.map { hash(6, AddressPrefix($0).bytes) }
    waits.add(registrations.wait(for: 1, ownerKey, now: now), .registrations)
    if let addressKey {
      waits.add(addressRegistrations.wait(for: 1, addressKey, now: now), .addressRegistrations)
    }
    if let verdict = waits.limited { return verdict }
    registrations.spend(1, ownerKey, now: now)
    if let addressKey { addressRegistrations.spend(1, addressKey, now: now) }
    return .admitted
  }

  /// A list of contacts, or rules, with a valid signature, before it is read: writing one needs no device, and each may
  /// have thousands of keys.
  ///
  /// - Parameters:
  ///   - owner: the key that signed it.
  ///   - address: the client's address; nil if it must not count.
  ///   - now: Unix seconds.
  public mutating func admit(changeBy owner: PushOwner, from address: IPAddress?, now: Int64) -> AdmissionVerdict {
    let now = clock.tell(now)
    var waits = Waits()
    let ownerKey = hash(7, owner.bytes)
    let addressKey = address.map { hash(8, AddressPrefix($0).bytes) }
    waits.add(changes.wait(for: 1, ownerKey, now: now), .changes)
    if let addressKey { waits.add(addressChanges.wait(for: 1, addressKey, now: now), .addressChanges) }
    if let verdict = waits.limited { return verdict }
    changes.spend(1, ownerKey, now: now)
    if let addressKey { addressChanges.spend(1, addressKey, now: now) }
    return .admitted
  }

  /// The longest wait, and its scope.
  private struct Waits {
    private(set) var longest: (Int, AdmissionScope)?

    mutating func add(_ seconds: Int64, _ scope: AdmissionScope) {
      if seconds > Int64(longest?.0 ?? 0) { longest = (Int(seconds), scope) }
    }

    var limited: AdmissionVerdict? { longest.map { .limited(retryAfterSeconds: $0.0, scope: $0.1) } }
  }

  // MARK: Windows

  private var globalRule: WindowRule { .perMinute(limits.globalPerMinute) }

  private func waitForRequest(_ address: IPAddress?, _ waits: inout Waits, _ now: Int64) {
    waits.add(global.wait(for: 1, globalRule, now: now), .global)
    if let address { waits.add(addresses.wait(for: 1, addressKey(address), now: now), .address) }
  }

  private mutating func chargeRequest(_ address: IPAddress?, _ now: Int64) {
    global.spend(1, globalRule, now: now)
    if let address { addresses.spend(1, addressKey(address), now: now) }
  }

  private func waitForRecipient(_ ask: WakeAsk, _ now: Int64) -> Waits {
    var waits = Waits()
    if ask.charge == .nothing { return waits }
    let isStranger = ask.charge == .stranger
    let key = hash(2, ask.recipient.bytes)
    waits.add(recipients.wait(for: ask.pushCount, key, now: now), .recipient)
    if isStranger { waits.add(strangers.wait(for: ask.pushCount, key, now: now), .strangers) }
    if let pairKey = pairKey(ask) {
      let limit = isStranger ? limits.strangerPairPerHour : limits.contactPairPerHour
      waits.add(pairs.wait(for: ask.pushCount, pairKey, limit: limit, now: now), .pair)
    }
    return waits
  }

  private mutating func chargeRecipient(_ ask: WakeAsk, _ now: Int64) {
    if ask.charge == .nothing { return }
    let key = hash(2, ask.recipient.bytes)
    recipients.spend(ask.pushCount, key, now: now)
    if ask.charge == .stranger { strangers.spend(ask.pushCount, key, now: now) }
    if let pairKey = pairKey(ask) { pairs.spend(ask.pushCount, pairKey, now: now) }
  }

  private func addressKey(_ address: IPAddress) -> UInt64 { hash(4, AddressPrefix(address).bytes) }
  private func pairKey(_ ask: WakeAsk) -> UInt64? { ask.sender.map { hash(3, $0.bytes + ask.recipient.bytes) } }

  private func hash(_ kind: UInt8, _ bytes: [UInt8]) -> UInt64 {
    SipHash(key: hashKey.0, hashKey.1).hash([kind] + bytes)
  }

  // MARK: Snapshots

  /// What counts now, for the ledger to keep: at most 6 MB, and a few hundred bytes when little happens.
  /// `Snapshot.swift` has the layout.
  public func snapshot() -> [UInt8] {
    var writer = SnapshotWriter()
    writer.write(hashKey.0)
    writer.write(hashKey.1)
    writer.write(clock.last)
    writer.write(clock.lastWall)
    writer.write(0, global)
    for path in Self.tables { self[keyPath: path].write(to: &writer, now: clock.last) }
    return writer.finished()
  }

  /// All tables, in the order of the snapshot.
  private static var tables: [WritableKeyPath<WakeAdmission, WindowTable>] {
    [
      \.addresses, \.senderMinutes, \.senderHours, \.pairs, \.strangers, \.recipients, \.registrations,
      \.addressRegistrations, \.changes, \.addressChanges,
    ]
  }
  /// How many of these tables every snapshot has; the others were added later.
  private static let firstTableCount = 8

  /// Continues from a snapshot.
  ///
  /// - Parameters:
  ///   - snapshot: the bytes of ``snapshot()``. If they are damaged, or of windows of other lengths, they are ignored,
  ///     and the start counts as not clean.
  ///   - limits: the limits.
  ///   - hashKey: two random words, used if the snapshot is ignored.
  ///   - now: Unix seconds.
  ///   - isClean: whether the snapshot was taken at the end of the last process. Otherwise it lacks what was admitted
  ///     after it, and every key begins with at least half of each window spent: so an attacker gains nothing by a
  ///     crash.
  public init(
    snapshot: [UInt8], limits: AdmissionLimits = AdmissionLimits(), hashKey: (UInt64, UInt64), now: Int64, isClean: Bool
  ) {
    if let read = WakeAdmission(limits: limits, reading: snapshot, now: now) {
      self = read
      if !isClean { assumeHalfSpent() }
    } else {
      self.init(limits: limits, hashKey: hashKey, now: now)
      assumeHalfSpent()
    }
  }

  private init?(limits: AdmissionLimits, reading bytes: [UInt8], now: Int64) {
    guard var reader = SnapshotReader(bytes), let first = reader.read(UInt64.self),
      let second = reader.read(UInt64.self), let last = reader.read(Int64.self), let wall = reader.read(Int64.self),
      let (_, global) = reader.readWindow()
    else { return nil }
    self.init(limits: limits, hashKey: (first, second), now: now)
    clock = SteadyClock(last: last, wall: wall, now: now)
    self.global = global
    for (index, path) in Self.tables.enumerated() {
      if index == Self.firstTableCount, reader.isAtEnd { break }
      guard
        let table = WindowTable(
          from: &reader, rule: self[keyPath: path].rule, keyMaximum: limits.keyMaximum,
          hasShadows: self[keyPath: path].hasShadows, now: clock.last)
      else { return nil }
      self[keyPath: path] = table
    }
    guard reader.isAtEnd else { return nil }
  }

  private mutating func assumeHalfSpent() {
    let now = clock.last
    addresses.assumeHalfSpent(now: now)
    senderMinutes.assumeHalfSpent(now: now)
    senderHours.assumeHalfSpent(now: now)
    // Contacts and strangers share this table: half of a contact's limit would be more than a stranger's whole limit.
    pairs.assumeHalfSpent(of: min(limits.contactPairPerHour, limits.strangerPairPerHour), now: now)
    strangers.assumeHalfSpent(now: now)
    recipients.assumeHalfSpent(now: now)
    registrations.assumeHalfSpent(now: now)
    addressRegistrations.assumeHalfSpent(now: now)
    changes.assumeHalfSpent(now: now)
    addressChanges.assumeHalfSpent(now: now)
    if global.spent(globalRule, now: now) < limits.globalPerMinute / 2 {
      global.spend(limits.globalPerMinute / 2 - global.spent(globalRule, now: now), globalRule, now: now)
    }
  }
}
