import Addresses
import Clocks
import Contracts
import EventLoop
import Nostr
import RelayDials
import RelaySession
import RelaySubscriptions

// Dials of relays outside the group: each is counted, and waits when the budget is used up. `DialBudget` decides, and
// this file performs its actions.
//
// A link asks before each dial (`RelayLink.connect`). When it must wait, its session says why, and the budget has a
// place for it. Later work for the same link can make that place a better one (`noteWork`).

extension Connector {
  /// How many relays outside the group may have links at a time.
  static let otherMaximum = 1_024

  /// Why a link may not dial now; nil when it may.
  func waitBeforeDial(of link: RelayLink) -> DialBudget.Wait? {
    guard isOutside(link.url) else { return nil }
    let now = EventLoop.process.now
    perform(dials.wanted(link.key, for: purpose(of: link), at: now), askedBy: link)
    return dials.wait(of: link.key, at: now)
  }

  /// Why a link waits for a dial; nil when it does not.
  func dialWait(of link: RelayLink) -> DialBudget.Wait? { dials.wait(of: link.key, at: EventLoop.process.now) }

  /// Whether a dial of this relay counts.
  func isOutside(_ url: RelayURL) -> Bool { !configured.contains(url) }

  /// Work for a link has come. If the link waits for the budget, its place may become a better one.
  func noteWork(at link: RelayLink, for purpose: DialPurpose) {
    guard isOutside(link.url), dials.has(link.key) || link.session.postponement != nil else { return }
    perform(dials.wanted(link.key, for: purpose, at: EventLoop.process.now))
  }

  /// Nothing needs this link at present.
  func noteIdle(_ link: RelayLink) {
    perform(dials.released(link.key, at: EventLoop.process.now))
  }

  /// What the work of a link is for.
  private func purpose(of link: RelayLink) -> DialPurpose {
    var purposes = publishes.values.filter { $0.relay == link.url }.map(\.purpose)
    if wishes.keepers[link.url] != nil {
      purposes += wishes.taken.values.filter { $0.relay == link.url && $0.wish != nil }.map(\.purpose)
    }
    if requests.values.contains(where: { $0.link === link }) { purposes.append(.lookUp) }
    return purposes.min() ?? .lookUp
  }

  /// - Parameter link: the link that asks, which dials by itself.
  func perform(_ actions: [DialBudget.Action], askedBy link: RelayLink? = nil) {
    for action in actions {
      switch action {
      case .dial(let key):
        outside.dials += 1
        if key != link?.key { grant(key) }
      case .close(let key): close(key)
      case .setTimer(let instant):
        dialTimer.set(at: instant) { [unowned self] in perform(dials.timerFired(at: EventLoop.process.now)) }
      case .cancelTimer: dialTimer.cancel()
      }
    }
  }

  private func grant(_ key: DialKey) {
    guard let link = links.values.first(where: { $0.key == key }) else {
      return perform(dials.ended(key, at: EventLoop.process.now))
    }
    link.dialGranted()
    settle(link)
  }

  private func close(_ key: DialKey) {
    guard let link = links.values.first(where: { $0.key == key }) else { return }
    guard !isWanted(link.url), !link.hasWork else { return noteWork(at: link, for: purpose(of: link)) }
    retire(link.url)
    relaysChanged([link.url])
  }

  /// The group has changed: relays that left it count from now on, and those that joined it no longer do.
  func recount() {
    let now = EventLoop.process.now
    for link in links.values {
      if !isOutside(link.url) {
        let waited = dials.wait(of: link.key, at: now) != nil
        perform(dials.joinedGroup(link.key, at: now))
        if waited { link.dialGranted() }
      } else if link.hasSocket, !dials.has(link.key) {
        perform(dials.leftGroup(link.key, at: now))
      }
    }
  }
}
