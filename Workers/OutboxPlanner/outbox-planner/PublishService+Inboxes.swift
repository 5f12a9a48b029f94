import Addresses
import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import OutboxRouting
import PublishQueue
import WorkerKit

// What goes out because of an event, after it: the event itself to the inboxes of people whose relay lists were not
// known at first, and its author's relay list to each relay that has taken the event (NIP-65).

extension PublishService {
  /// Most publications whose people are looked up at a time; a further one goes to the inboxes that are known.
  private static let joiningMaximum = 64

  /// Looks for the relay lists that were not known when an event was accepted, and adds the inboxes they name. Does
  /// nothing for an event whose relays a caller named.
  func joinInboxes(of event: Event, _ json: [UInt8]) {
    guard !isDraining, joining.count < Self.joiningMaximum, !joining.contains(event.id),
      queue[event.id]?.targets.contains(where: { $0.progress.why == RelayChoice.isNamed }) == false,
      !planner.directory.unlisted(planner.directory.addressees(of: event.unsigned)).isEmpty
    else { return }
    joining.insert(event.id)
    EventLoopActor.task { [self] in
      defer { joining.remove(event.id) }
      guard await planner.findInboxes(of: event), !isDraining else { return }
      do throws(Refusal) {
        guard let known = try await inMemory(event.id) else { return }
        defer { putBack(event.id) }
        guard known.state != .cancelled, !event.isExpired(at: WallClock.seconds) else { return }
        let found = planner.directory.plan(event.unsigned).choices.filter { !$0.people.isEmpty }
        let new = found.filter { choice in !known.targets.contains { $0.relay == choice.url.text } }
          .prefix(max(0, PlanPublish.relayMaximum - known.targets.count))
        guard !new.isEmpty else { return }
        add(new.map { QueuedTarget($0) }, to: event, json, lifetime: nil)
      } catch {
        log.notice(
          "inboxes that were found later are left out",
          metadata: ["event": "\(event.id)", "why": "\(error.message)"])
      }
    }
  }

  /// A relay has taken an event of ours: it is sent the author's relay list too, if it has not had this version for a
  /// day. One attempt: the next event brings it again.
  func followWithRelayList(_ key: SendingKey, _ manner: SendingManner) {
    guard planner.directory.autopilot, let publication = queue[key.id] ?? unstored[key.id],
      let list = planner.directory.personalRelayList(of: publication.author),
      KindClass(publication.kind) != .ephemeral
    else { return }
    let place = SentRelayLists.Place(author: publication.author, relay: key.relay)
    if key.id == list { return sentLists.sent(list, to: place, at: WallClock.seconds) }
    guard !isDraining, sentLists.isDue(list, at: place, WallClock.seconds) else { return }
    sentLists.sent(list, to: place, at: WallClock.seconds)
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        // The queue wrote this URL itself, and the store this event.
        guard let body = try await storedBody(list), let event = try? Event(json: body),
          let url = try? RelayURL(key.relay), case .success(let connector) = planner.dialler(of: url)
        else { throw Refusal(.failed, "the list or the relay's connector is not there") }
        let wanted = RelayPublish(
          relay: key.relay, event: RawJSON(body), account: manner.account?.description,
          isProtected: event.isProtected ? true : nil, isForeign: manner.isForeign)
        let answer = try await worker.bus.request(
          RelayMethod.publish, of: connector, wanted, ttlMilliseconds: Self.sendMilliseconds)
        guard case .taken = SendOutcome(answer) else { throw Refusal(.failed, SendOutcome(answer).words) }
      } catch {
        sentLists.failed(place, at: WallClock.seconds)
        log.debug("a relay has not taken a relay list", metadata: ["relay": "\(key.relay)", "why": "\(error.message)"])
      }
    }
  }
}
