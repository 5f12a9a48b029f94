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
      try await bus.subscribe("store.observes")
      try await bus.subscribe("signer.changes")
      return true
    }
  }

  func received(_ event: BusEvent) {
    defer { event.acknowledge() }
    if event.name == "signer.changes" { return received(accounts: event.payload) }
    guard event.name == "store.observes" else { return }
    do throws(Refusal) {
      take(mirror.received(try event.payload.decoded(as: ObserveChanges.self)))
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
    persist("store.observes.list") { [self] () async throws(Refusal) in
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
    let answer = try await bus.ask("store.observes.list", BusPayload(json: NoArguments()))
    var observes: [ActiveObserve] = []
    while let part = try await answer.nextPart() {
      if part.isLast { return mirror.listed(observes, try part.payload.decoded(as: ObserveListEnd.self)) }
      observes.append(try part.payload.decoded(as: ActiveObserve.self))
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
    persist("store.fetched") { [self] () async throws(Refusal) in
      while let fetched = fetchesToTell.first {
        fetchesToTell.removeFirst()
        do throws(Refusal) {
          _ = try await bus.request("store.fetched", BusPayload(json: fetched))
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
