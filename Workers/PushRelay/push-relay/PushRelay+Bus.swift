import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import WorkerLedger
import Logging
import Nostr
import PushDelivery
import PushLedger
import PushRequests
import Storage
import WorkerKit

// The methods for the operator. No answer contains a token.

extension PushRelay {
  /// Devices of one answer, by default.
  private static let pageCount = 100
  /// Rows that are encrypted again in one transaction.
  private static let rekeyCount = 500

  /// Serves `push.*`.
  func serve() {
    worker.serve(AccountMethod.forget) { [unowned self] (_, wanted) throws(Refusal) in try await forget(wanted) }
    worker.serve(PushMethod.status) { [unowned self] (_, _) throws(Refusal) in try await status() }
    worker.serve(PushMethod.devices, list)
    worker.serve(PushMethod.send) { [unowned self] (_, wanted) throws(Refusal) in try await send(wanted) }
    worker.serve(PushMethod.rekey) { [unowned self] (_, _) throws(Refusal) in try await rekey() }
  }

  private func status() async throws(Refusal) -> PushStatus {
    let figures = try await statistics()
    var status = PushStatus()
    status.addresses = addresses
    status.platforms = PushPlatform.allCases.map(platform)
    status.devices = Int(figures.devices.values.reduce(0, +))
    status.waiting = Int(figures.queuedWakes)
    status.accepted = UInt64(max(0, figures.totals[.acceptedWakes] ?? 0))
    for (outcome, count) in dispatcher?.ended ?? [:] { status.ended[outcome.rawValue] = count }
    if let counters = front?.counters {
      for (code, count) in counters.refused { status.refused[code.rawValue] = count }
      status.dropped = counters.dropped
    }
    let newest = ledger.newestKeyName
    status.underOlderKeys = Int(figures.tokensByKey.filter { $0.key != newest }.values.reduce(0, +))
    status.unreadable = Int(figures.quarantinedDevices)
    status.events = eventStatus(figures)
    status.countedSince = startedAt
    status.certificateFault = identity?.fault
    status.webPushFault = try await webPushFault()
    return status
  }

  private func platform(_ platform: PushPlatform) -> PushStatus.Platform {
    let isOn = dispatcher?.couriers.running[platform] != nil
    let trouble = dispatcher?.troubles[platform]
    var shown = PushStatus.Platform(
      name: platform.rawValue, state: !isOn ? "off" : trouble == nil ? "ready" : "away",
      reason: isOn
        ? (trouble ?? dispatcher?.remarks[platform])?.description : dispatcher?.couriers.reasons[platform])
    if isOn, let reason = trouble ?? dispatcher?.remarks[platform] {
      shown.advice = dispatcher?.advice(on: reason, of: platform)
    }
    shown.againSeconds = dispatcher?.secondsLeft(of: platform)
    shown.inFlight = dispatcher?.board.inFlightCount(of: platform) ?? 0
    shown.expired = dispatcher?.board.expiredCount(of: platform) ?? 0
    if let figures = dispatcher?.figures[platform] {
      (shown.delivered, shown.repeated) = (figures.delivered, figures.repeated)
      (shown.failed, shown.pruned) = (figures.failed, figures.pruned)
    }
    return shown
  }

  private func statistics() async throws(Refusal) -> PushStatistics {
    do throws(StorageFault) { return try await ledger.statistics(now: WallClock.seconds) } catch {
      throw writer.health.refusal(error)
    }
  }

  private func list(_ request: BusRequest, _ asked: PushDevices) async throws(Refusal) -> StoreCount? {
    let owner = try asked.owner.map { text throws(Refusal) in try Self.owner(text) }
    let limit = min(max(1, asked.limit ?? Self.pageCount), PushLedger.pageMaximum)
    var after: Int64 = 0
    var count = 0
    while count < limit {
      let page: [DeviceSummary]
      do throws(StorageFault) { page = try await ledger.page(after: after, limit: PushLedger.pageMaximum) } catch {
        throw writer.health.refusal(error)
      }
      guard let last = page.last else { break }
      after = last.number
      for device in page.filter({ owner == nil || $0.owner == owner }).prefix(limit - count) {
        count += 1
        try await request.send(Self.row(device), of: PushMethod.devices)
      }
    }
    return StoreCount(count: count)
  }

  private static func row(_ device: DeviceSummary) -> PushDeviceRow {
    PushDeviceRow(
      owner: device.owner.name, device: device.id, relayID: device.relayID,
      platform: device.platform.rawValue, capabilities: device.capabilities, registeredAt: device.registeredAt,
      expiresAt: device.expiresAt, isVerified: device.isVerified, isReadable: !device.isQuarantined,
      isSealed: device.isSealed)
  }

  /// The owner that an operator names: in the spelling of requests, or as an `npub`.
  private static func owner(_ text: String) throws(Refusal) -> PushOwner {
    if let owner = OwnerName.owner(text) { return owner }
    do throws(EntityFault) { return PushOwner(.nostr, try PublicKey(spelled: text).octets) } catch {
      throw Refusal(
        .badRequest, "\"\(text)\" is no key: 52 characters of z-base-32, 64 hexadecimal digits, or an npub",
        outcome: .notStarted)
    }
  }

  private func send(_ asked: PushSend) async throws(Refusal) -> PushSent {
    let owner = try Self.owner(asked.owner)
    guard Wake.isType(asked.type) else {
      throw Refusal(
        .badRequest, "\"\(asked.type)\" is no type of a wake: 1 to 64 of a-z, 0-9 and _", outcome: .notStarted)
    }
    let devices: [PushDevice]
    do throws(StorageFault) { devices = try await ledger.devices(of: owner, now: WallClock.seconds) } catch {
      throw writer.health.refusal(error)
    }
    let now = WallClock.milliseconds
    let seconds = front?.rules.classes[asked.type].timeToLiveSeconds ?? 60
    let wake = Wake(
      id: Wake.makeID(unixMilliseconds: now), recipient: owner, sender: nil, type: asked.type, payload: nil,
      nonce: RandomBytes.make(16), acceptedAt: now, expiresAt: now + seconds * 1_000)
    let wanting = devices.filter { $0.isVerified && wake.isWanted(by: $0.capabilities) }
    guard !wanting.isEmpty else {
      throw Refusal(
        .failed, "\(asked.owner) has no device here that wants wakes of the type \(asked.type)", outcome: .notStarted)
    }
    let command = WakeCommand(message: nil, wake: wake, bodyHash: SHA256.hash(wake.id)) { _ in
      WakeRuling(.queued, isQueued: true, isTold: false)
    }
    if asked.waitMilliseconds != nil { dispatcher?.trials.begin(wake.id) }
    switch await writer.perform(.wake(command)) {
    case .success:
      let outcomes = await dispatcher?.outcomes(of: wake.id, for: wanting, milliseconds: asked.waitMilliseconds ?? 0)
      return PushSent(wake: Hexadecimal.text(of: wake.id), devices: wanting.count, outcomes: outcomes)
    case .failure(let fault):
      _ = dispatcher?.trials.end(wake.id)
      throw writer.health.refusal(fault)
    }
  }

  /// Reads the key ring again, and uses it; if it cannot be used, the old one stays.
  func turnRing() async throws(Refusal) {
    let ring = try Self.ring(settings, in: directory)
    let newest = ledger.newestKeyName
    FaultPoint.pass(.writing, "ring")
    do throws(StorageFault) { try await ledger.turn(to: ring) } catch { throw writer.health.refusal(error) }
    FaultPoint.pass(.written, "ring")
    guard ledger.newestKeyName != newest else { return }
    log.notice("tokens are encrypted under a new key", metadata: ["name": "\(ledger.newestKeyName)"])
  }

  private func rekey() async throws(Refusal) -> PushRekeyed {
    try await turnRing()
    var (changed, broken) = (0, 0)
    while true {
      switch await writer.perform(.rekey(limit: Self.rekeyCount)) {
      case .success(.rekeyed(let turned, let unopened, let remaining)):
        changed += turned
        broken += unopened
        // Each step encrypts some rows again or quarantines them; a step that does neither is the last.
        guard remaining == 0 || turned + unopened == 0 else { continue }
        return PushRekeyed(
          changed: changed, keys: ledger.keyNames.count,
          unreadable: max(broken, Int(try await statistics().quarantinedDevices)), remaining: Int(remaining))
      case .success: throw Refusal(.failed, "the ledger gave another answer than was asked for")
      case .failure(let fault): throw writer.health.refusal(fault)
      }
    }
  }
}
