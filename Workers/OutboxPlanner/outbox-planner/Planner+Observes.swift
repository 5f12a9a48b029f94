import Bus
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logging
import OutboxRouting
import WorkerKit

// What is observed, from the store; and back to it, what was fetched.

extension Planner {
  func subscribe() {
    persist("the subscription") { [self] () async throws(Refusal) in
      try await bus.subscribe(StoreTopic.observes)
      try await bus.subscribe(SignerTopic.changes)
      return true
    }
  }

  func received(_ event: BusEvent) {
    defer { event.acknowledge() }
    do throws(Refusal) {
      if let changes = try event.value(of: SignerTopic.changes) { accountsAre(changes.accounts) }
    } catch {
      log.error("the signer's accounts cannot be read", metadata: ["why": "\(error.message)"])
    }
    do throws(Refusal) {
      if let changes = try event.value(of: StoreTopic.observes) { take(mirror.received(changes)) }
    } catch {
      log.error("a change of what is observed cannot be read", metadata: ["why": "\(error.message)"])
      listObserves()
    }
  }

  private func take(_ step: ObserveMirror.Step) {
    switch step {
    case .nothing: return
    case .list: listObserves()
    case .take(let changed, let removed):
      for key in removed { wishes.ended(key, at: now, wall: WallClock.seconds) }
      for observe in changed {
        if let wish = Interest(observe) {
          wishes.wished(wish, in: directory, at: now, wall: WallClock.seconds)
        } else {
          wishes.ended(observe.key, at: now, wall: WallClock.seconds)
        }
      }
      let keys = Set(changed.map(\.key) + removed)
      for (key, follower) in progressFollowers.values where keys.contains(key) { follower.changed() }
      update()
    }
  }

  /// Asks for all that is observed. Asked for meanwhile, it is asked once more when the answer is here.
  func listObserves() {
    isListDue = true
    guard !isListing else { return }
    isListing = true
    persist("the list of what is observed") { [self] () async throws(Refusal) in
      while isListDue {
        isListDue = false
        mirror.listBegins()
        do throws(Refusal) {
          take(try await list())
        } catch {
          mirror.listFailed()
          isListDue = true
          throw error
        }
      }
      isListing = false
      return true
    }
  }

  private func list() async throws(Refusal) -> ObserveMirror.Step {
    let answer = try await bus.ask(StoreMethod.listObserves, NoArguments())
    var observes: [ActiveObserve] = []
    while let item = try await answer.next() {
      switch item {
      case .part(let observe): observes.append(observe)
      case .end(let end): return mirror.listed(observes, end)
      }
    }
    throw Refusal(.badPayload, "the list of what is observed has no end")
  }

  // MARK: What was fetched

  /// Most that waits to be told; the oldest are left out beyond that, and then asked of relays again for nothing.
  private static let fetchMaximum = 1_024

  func tellFetches(_ fetches: [StoreFetched]) {
    fetchesToTell += fetches
    fetchesToTell.removeFirst(max(0, fetchesToTell.count - Self.fetchMaximum))
    guard !isTellingFetches, !fetchesToTell.isEmpty else { return }
    isTellingFetches = true
    persist("what was fetched") { [self] () async throws(Refusal) in
      while let fetched = fetchesToTell.first {
        fetchesToTell.removeFirst()
        do throws(Refusal) {
          _ = try await bus.request(StoreMethod.fetched, fetched)
        } catch {
          // What it refuses it will refuse again; what it could not do is worth another attempt.
          if error.code != .badRequest { fetchesToTell.insert(fetched, at: 0) }
          throw error
        }
      }
      isTellingFetches = false
      return true
    }
  }
}
