import Contracts
import Cryptography
import EventLoop
import Frames
import WorkerLedger
import Logging
import Nostr
import PushDelivery
import PushLedger
import PushRequests
import PushRules
import Storage
import WorkerKit

// The link between wakes for events of Nostr and the rest of the relay.

extension PushRelay {
  /// Prepares to follow the event store, if Nostr keys may register.
  func prepareEvents(_ classes: WakeClasses) throws(Refusal) {
    guard settings.nostr.publicURL != nil else { return }
    var rules = EventFollower.Rules()
    rules.ageSeconds = settings.nostrAgeMilliseconds / 1_000
    rules.pauseMilliseconds = settings.nostrPauseMilliseconds
    rules.keyMaximum = settings.nostrKeysMaximum
    rules.asksRelays = settings.nostrRelays
    rules.wakeSeconds = classes[Wake.nostr].timeToLiveSeconds
    nostrOwners = NostrOwners(
      worker, log, isOpen: settings.nostrRegistration == .anybody, listed: try settings.listedOwners())
    follower = EventFollower(worker, ledger: ledger, writer: writer, rules: rules, log: log)
    follower?.left = { [unowned self] in nostrOwners?.left ?? [] }
    nostrOwners?.onLeft = { [unowned self] in follower?.ownersChanged() }
    nostrOwners?.follow()
  }

  /// Removes everything of an account (`account.forget`).
  func forget(_ wanted: AccountForget) async throws(Refusal) -> AccountForgotten {
    guard let key = PublicKey(wanted.account) else {
      throw Refusal(.badRequest, "'account' is no public key", outcome: .notStarted)
    }
    do throws(StorageFault) {
      let answer = try await writer.perform(.forget(PushOwner(.nostr, key.octets))).get()
      guard case .forgotten(let devices, let wakes, let rows) = answer else { return AccountForgotten([]) }
      dispatcher?.removed(rows)
      follower?.ownersChanged()
      _ = try await ledger.file.scrub()
      return AccountForgotten([AccountForgotten.Part("devices", devices), AccountForgotten.Part("wakes", wakes)])
    } catch {
      throw writer.health.refusal(error)
    }
  }

  /// Whether a Nostr key may register.
  func nostrStanding(of owner: PushOwner) async -> NostrStanding {
    guard let nostrOwners, let follower else { return .refused }
    let key = PublicKey(owner.key)
    let standing = await nostrOwners.standing(of: key)
    return standing == .allowed && follower.isFull(for: key) ? .full : standing
  }

  /// The watched owners, or their rules, may have changed.
  func eventsChanged(by command: PushWrite) async {
    switch command {
    case .register(let asked) where asked.message.owner.realm == .nostr:
      await follower?.awaitFollowing(PublicKey(asked.message.owner.key))
    case .unregister(let asked) where asked.message.owner.realm == .nostr: follower?.ownersChanged()
    case .contacts(let asked) where asked.message.owner.realm == .nostr: follower?.ownersChanged()
    case .rules: follower?.ownersChanged()
    default: break
    }
  }

  /// The rules of an owner; nil if they cannot be read.
  func eventRules(of owner: PushOwner) async -> WakeRules? {
    do throws(StorageFault) {
      return rules(kept: try await ledger.rules(of: owner))
    } catch {
      cannotRead(error)
      return nil
    }
  }

  private func rules(kept bytes: [UInt8]?) -> WakeRules {
    do throws(PushRefusal) { return try WakeRules(kept: bytes) } catch {
      log.warning(
        "rules in the ledger cannot be read: their owner is woken by the default rules until these are written again",
        metadata: ["why": "\(error.message)"])
      return WakeRules()
    }
  }

  /// For `push.status`.
  func eventStatus(_ figures: PushStatistics) -> PushStatus.Events? {
    guard let follower else { return nil }
    var events = PushStatus.Events()
    events.devices = Int(figures.nostrDevices)
    events.keys = follower.watch.keys.count
    events.state = follower.state.rawValue
    events.wakes = UInt64(max(0, figures.totals[.eventWakes] ?? 0))
    events.waking = follower.watch.counts.waking
    for (why, count) in follower.watch.counts.dismissed { events.dismissed[why.rawValue] = count }
    return events
  }
}

extension WakeRules {
  /// Rules from the ledger; nil means the defaults.
  ///
  /// - Throws: why they cannot be read. They were valid when they were stored, so they are from another version of
  ///   Roost.
  init(kept bytes: [UInt8]?) throws(PushRefusal) {
    guard let bytes else {
      self.init()
      return
    }
    try self.init(RequestBody(bytes, byteCountMaximum: PushLedger.rulesByteCountMaximum))
  }
}
