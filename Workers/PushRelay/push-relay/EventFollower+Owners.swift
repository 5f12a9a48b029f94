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

// Who is watched for.

extension EventFollower {
  /// How long changes of who is watched for gather.
  private static let gatherMilliseconds: UInt64 = 20
  /// How often it is looked who is still registered.
  private static let lookMilliseconds: UInt64 = 60_000
  /// How long a registration waits until the store is read for its key.
  private static let patienceMilliseconds: UInt64 = 3_000

  /// Whether as many keys are watched for as may be, and this is another. The ledger has the last word.
  func isFull(for key: PublicKey) -> Bool { watch.keys.count >= rules.keyMaximum && !watch.keys.contains(key) }

  /// Somebody has registered, or has changed what wakes him.
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

  /// Waits until the store is read for a key: not for long, and not at all where there is no store.
  func awaitFollowing(_ key: PublicKey) async {
    // The reading that is under way may have begun before the registration was written.
    let wanted = readCount + (isReading ? 2 : 1)
    let deadline = EventLoop.process.now.advanced(milliseconds: Self.patienceMilliseconds)
    ownersChanged()
    while !isOver, !watch.isFollowing(key), hasStore {
      // It has no device that can be woken yet, or has none any more.
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
    // What was missed since the last process is news to those who were there then; told once, when first it is known
    // who they are.
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
    for owner in owners {
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
