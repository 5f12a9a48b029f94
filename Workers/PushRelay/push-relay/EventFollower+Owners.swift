import Bus
import Clocks
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
import PushRules
import Storage
import WorkerKit

// The watched owners.

extension EventFollower {
  /// How long changes of the owners are collected before they are read.
  private static let gatherMilliseconds: UInt64 = 20
  /// How often the registered owners are read.
  private static let lookMilliseconds: UInt64 = 60_000
  /// How long a registration waits until the store is read for its key.
  private static let patienceMilliseconds: UInt64 = 3_000

  /// Whether the maximum of keys is watched, and this is another key. The ledger has the final decision.
  func isFull(for key: PublicKey) -> Bool { watch.keys.count >= rules.keyMaximum && !watch.keys.contains(key) }

  /// An owner has registered, or has changed its rules.
  func ownersChanged() {
    guard isRunning, !isOver, !isGathering else { return }
    isGathering = true
    lookAgain(afterMilliseconds: Self.gatherMilliseconds)
  }

  private func lookAgain(afterMilliseconds milliseconds: UInt64) {
    owners.set(afterMilliseconds: milliseconds) { [unowned self] in
      isGathering = false
      EventLoopActor.task { [self] in await readOwners() }
    }
  }

  /// Waits until the store is read for a key: for a short time, and not at all if there is no store.
  func awaitFollowing(_ key: PublicKey) async {
    // A reading in progress may have begun before the registration was written.
    let wanted = readCount + (isReading ? 2 : 1)
    let deadline = EventLoop.process.now.advanced(milliseconds: Self.patienceMilliseconds)
    ownersChanged()
    while !isOver, !watch.isFollowing(key), hasStore {
      // The key has no device that can be woken: not yet, or no longer.
      if readCount >= wanted, !watch.keys.contains(key) { return }
      guard await progress.wait(until: deadline) else { return }
    }
  }

  private var hasStore: Bool {
    worker.bus.registry.members.contains { $0.role == Role.eventStore.name && $0.isReady }
  }

  func readOwners() async {
    guard !isReading else {
      isStale = true
      return
    }
    isReading = true
    var isRead = false
    repeat {
      isStale = false
      do throws(StorageFault) {
        adopt(try await ledger.watchedOwners(now: WallClock.seconds, limit: rules.keyMaximum))
        isRead = true
      } catch {
        isRead = false
        writer.health.leaveIfDamaged(error)
        log.warning("it cannot be read who has devices", metadata: ["why": "\(error)"])
      }
    } while isStale && !isOver
    isReading = false
    if isRead { readDelay.reset() }
    if !isOver, !owners.isSet {
      lookAgain(afterMilliseconds: isRead ? Self.lookMilliseconds : readDelay.next())
    }
  }

  private func adopt(_ found: [WatchedOwner]) {
    guard !isOver else { return }
    // What arrived since the last process is news for owners that were watched then. This applies only to the first
    // reading of the owners.
    let isFirst = readCount == 0
    readCount += 1
    defer { progress.raise() }
    var known: Set<PublicKey> = []
    let wanted = wakeRules(of: found)
    for owner in found {
      if isFirst, let heardAt, owner.watchedSince <= heardAt { known.insert(PublicKey(owner.owner.key)) }
    }
    guard watch.watch(wanted, known: known) else { return }
    let changed = Refusal(.cancelled, "others are watched for now")
    for answer in answers { answer.abandon(changed) }
    networkAnswer?.abandon(changed)
    networkAnswer = nil
    networkRound += 1
    guard !watch.keys.isEmpty else {
      state = .idle
      return
    }
    if !isAsking {
      isAsking = true
      EventLoopActor.task { [self] in
        await follow()
        isAsking = false
        if !watch.keys.isEmpty, !isOver { ownersChanged() }
      }
    }
    if rules.asksRelays { askRelays() }
  }

  private func wakeRules(of owners: [WatchedOwner]) -> [PublicKey: WakeRules] {
    var wanted: [PublicKey: WakeRules] = [:]
    var (count, reason) = (0, "")
    let left = left()
    for owner in owners where !left.contains(PublicKey(owner.owner.key)) {
      var rules = WakeRules()
      do throws(PushRefusal) { rules = try WakeRules(kept: owner.rules) } catch {
        count += 1
        reason = error.message
      }
      rules.mutedPeople.formUnion(owner.blocked.filter { $0.realm == .nostr }.map { PublicKey($0.key) })
      wanted[PublicKey(owner.owner.key)] = rules
    }
    if count > unreadableCount {
      log.warning(
        "rules in the ledger cannot be read: their owners are woken by the standard, until they write them again",
        metadata: ["owners": "\(count)", "why": "\(reason)"])
    }
    unreadableCount = count
    return wanted
  }
}
