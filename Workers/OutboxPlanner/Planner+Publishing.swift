import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import OutboxPlan

// What the publish queue is told: where events go, and whether a relay outside the groups may be dialled now.

extension Planner: PublishRouting {
  /// How long relays may take to tell where somebody receives private messages.
  private static let findMilliseconds: UInt64 = 8_000
  /// How often it is looked whether they have.
  static let lookMilliseconds: UInt64 = 20

  func publishRoute(_ event: Event, named: [RelayURL]?) async -> Result<[RelayChoice], NoRoute> {
    await settled()
    await recognise(event.pubkey)
    let route = directory.route(event, named: named)
    guard case .failure(let problem) = route, let person = problem.missingList else { return route }
    await findMessageRelays(of: person)
    return directory.route(event, named: named)
  }

  /// Waits until all sources have spoken, or have had their time.
  func settled() async {
    while isEarly, !isDraining { await EventLoopActor.sleep(milliseconds: Self.lookMilliseconds) }
  }

  /// Looks for somebody's list of relays for direct messages: in the store, then at the relays that are read.
  private func findMessageRelays(of person: PublicKey) async {
    do throws(Refusal) {
      try await lookUpMessageRelays(of: person)
      guard directory.directMessageRelays(of: person) == nil else { return }
      let filter = Filter(authors: [person], kinds: [EventKind.directMessageRelays], limit: 1)
      let wish = Wish(own: "dm:\(person)", [filter], isLive: false)
      wishes.wished(wish, in: directory, at: now, wall: WallClock.seconds)
      update()
      let deadline = now.advanced(milliseconds: Self.findMilliseconds)
      while wishes.progress(of: wish.key)?.isComplete == false, now < deadline, !isDraining {
        await EventLoopActor.sleep(milliseconds: Self.lookMilliseconds)
      }
      wishes.ended(wish.key, at: now, wall: WallClock.seconds)
      update()
      try await lookUpMessageRelays(of: person)
    } catch {
      log.notice("a list of relays could not be looked for", metadata: ["of": "\(person)", "why": "\(error.message)"])
    }
  }

  // MARK: Dialling

  func publishBegins(at relay: RelayURL, for purpose: DialBudget.Purpose) -> Result<String, NoRoute> {
    guard let connector = directory.connector(of: relay) else {
      return .failure(NoRoute("no relay-connector is there that dials it"))
    }
    guard !directory.isConfigured(relay) else { return .success(connector) }
    switch budget.dial(relay, for: purpose, at: now) {
    case .granted:
      publishesUnderWay[Dialling(relay: relay, purpose: purpose), default: 0] += 1
      return .success(connector)
    case .waits(let until, let reason):
      // Without an instant it is tried when another relay is released, and now and then.
      let next = until ?? now.advanced(milliseconds: DesiredSet.retryMilliseconds)
      budgetTimer.set(at: next) { [unowned self] in publishing?.connectorsChanged() }
      return .failure(NoRoute(reason))
    }
  }

  func publishEnded(at relay: RelayURL, for purpose: DialBudget.Purpose) {
    let dialling = Dialling(relay: relay, purpose: purpose)
    guard let count = publishesUnderWay[dialling] else { return }
    publishesUnderWay[dialling] = count > 1 ? count - 1 : nil
    guard count == 1 else { return }
    budget.release(relay, for: purpose, at: now)
    if budgetTimer.isSet { publishing?.connectorsChanged() }
  }

  /// A relay outside the groups that is being published to.
  struct Dialling: Hashable {
    let relay: RelayURL
    let purpose: DialBudget.Purpose
  }

  /// Tells the queue which relays are connected now and were not before, in this life of their connector.
  func noteOpen(_ report: RelayReport, of connector: String) {
    if report.isWhole { openRelays[connector] = nil }
    for relay in report.relays {
      guard let url = try? RelayURL(relay.relay) else { continue }  // A connector of ours spells them canonically.
      if relay.state != "open" {
        openRelays[connector]?.remove(url)
      } else if openRelays[connector, default: []].insert(url).inserted {
        publishing?.relayOpened(url)
      }
    }
  }
}
