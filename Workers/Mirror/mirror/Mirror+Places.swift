import Addresses
import Bus
import Contracts
import CopyLedger
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Mirroring
import Nostr
import NostrContracts
import Storage
import WorkerKit
import WorkerLedger

// Where else accounts' events may be: the relays of their past lists, and those that have sent their events.

extension Mirror {
  /// How old what is known of an account's places may be, in seconds: after a fetch of what it wrote they are looked up
  /// again, and other places make it due once more. So that is once a day.
  private static let placesSeconds: Int64 = 20 * 3_600
  /// The relays of an answer of the store that are taken.
  private static let seenMaximum = 16

  /// A list of an account has come: its relays are remembered for the time when a later list does not name them.
  func learnPlaces(_ event: Event) async {
    updatePlaces(of: event.pubkey) {
      if event.kind == EventKind.relayList {
        // `try?`: as in ``relays(of:)``.
        $0.reads = (try? RelayList(event))?.readRelays ?? []
      } else {
        $0.presentInboxes = relays(of: event)
      }
    }
    await remember(relays(of: event), by: event.pubkey, kind: event.kind, at: event.createdAt)
    await readPlaces(of: event.pubkey)
  }

  private func remember(_ relays: [RelayURL], by account: PublicKey, kind: UInt16, at time: Int64) async {
    do throws(StorageFault) {
      try await copies.ledger.listed(
        relays.map(\.text), by: account, kind: kind, at: min(time, WallClock.seconds))
    } catch {
      copies.health.notWritten(error)
    }
  }

  private func readPlaces(of account: PublicKey) async {
    do throws(StorageFault) {
      let ledger = copies.ledger
      let listed = try await ledger.listed(by: account, kind: EventKind.relayList)
      let inboxes = try await ledger.listed(by: account, kind: EventKind.directMessageRelays)
      updatePlaces(of: account) {
        ($0.listed, $0.inboxes) = (Self.urls(listed), Self.urls(inboxes))
      }
    } catch {
      copies.health.leaveIfDamaged(error)
    }
  }

  /// What an account wrote was fetched: looks up where else it may be, if that was not done lately.
  func lookUpPlaces(of account: PublicKey) async {
    let wall = WallClock.seconds
    if let last = placesAt[account], (0..<Self.placesSeconds).contains(wall - last) { return }
    placesAt[account] = wall
    do throws(Refusal) {
      for (list, event) in try await replacedLists(of: account) {
        await remember(relays(of: event), by: account, kind: list.kind, at: list.replacedAt)
      }
      await readPlaces(of: account)
      let sources = try await bus.request(StoreMethod.sources, StoreSources(authors: ["\(account)"]))
      let seen = Self.urls(sources.relays.prefix(Self.seenMaximum).map(\.relay)).map { ForeignRelayURL($0) }
      updatePlaces(of: account) { $0.seen = seen }
    } catch {
      placesAt[account] = nil
      log.info("not all places are known", metadata: ["account": "\(account)", "why": "\(error.message)"])
    }
  }

  /// The versions of an account's lists that the planner kept.
  private func replacedLists(of account: PublicKey) async throws(Refusal) -> [(list: ReplacedList, event: Event)] {
    let kinds = [EventKind.relayList, EventKind.directMessageRelays]
    var lists: [ReplacedList] = []
    let answer = try await bus.ask(PlanMethod.replaced, PlanReplaced())
    while let part = try await answer.nextPart() {
      if part.author == "\(account)", kinds.contains(part.kind) { lists.append(part) }
    }
    var found: [(list: ReplacedList, event: Event)] = []
    for list in lists {
      let one = try await bus.ask(PlanMethod.replaced, PlanReplaced(id: list.id))
      while let part = try await one.nextPart() {
        // `try?`: the planner has kept it as it was signed.
        guard let value = part.event, let event = try? Event(json: JSONPayload.encode(value)) else { continue }
        found.append((list, event))
      }
    }
    return found
  }

  private func relays(of event: Event) -> [RelayURL] {
    // `try?`: a list of another form names no relays.
    if event.kind == EventKind.relayList { return (try? RelayList(event))?.entries.map(\.relay) ?? [] }
    return (try? RelaySet(event))?.relays ?? []
  }

  private static func urls(_ texts: [String]) -> [RelayURL] {
    // `try?`: they were written down as canonical URLs.
    texts.compactMap { try? RelayURL($0) }
  }
}
