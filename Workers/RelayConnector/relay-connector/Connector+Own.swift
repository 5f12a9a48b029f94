import Addresses
import Contracts
import EventLoop
import Frames
import Logging
import Nostr
import RelaySession

// This Roost's own relays are not dialled: their events are already in the store, and an event sent to them would come
// back to its sender. roostd says where they listen; see `OwnAddresses`.
//
// Most are known by their URL; the connector never makes a link for them. The others are found when a connection leads
// to an own relay: then its work fails, its interests are refused, and the connector drops the link. For names that
// callers give, the connector remembers nothing of this, because a name may lead elsewhere tomorrow. New work dials
// again, and fails again.

extension OwnAddresses {
  /// Why this Roost does not want a connection between these addresses; nil if it may be made.
  func objection(to peer: SocketAddress, from local: SocketAddress) -> String? {
    includes(peer: peer.host, port: peer.port, local: local.host) ? Self.reason : nil
  }
}

extension Connector {
  /// Whether the URL is one of this Roost's own relays.
  func isOwn(_ url: RelayURL) -> Bool { own.includes(host: url.host, port: url.port) }

  /// - Throws: `own-relay` for the URL of one of this Roost's own relays.
  func refuseOwn(_ url: RelayURL) throws(Refusal) {
    guard isOwn(url) else { return }
    throw Refusal(.ownRelay, "\(url) is not dialled: \(OwnAddresses.reason)", outcome: .notStarted)
  }

  /// Why the connector will not dial this relay; nil when there is no known reason.
  func reasonAgainst(_ url: RelayURL) -> String? { isOwn(url) ? OwnAddresses.reason : ledHome[url] }

  /// Why an interest at this relay is refused; nil when it is not.
  func objection(to url: RelayURL) -> String? {
    if isOwn(url) { return OwnAddresses.reason }
    return configured.contains(url) ? nil : groups.owners[url].map { _ in notHere(url).message }
  }

  /// Adopts the addresses where own relays listen, and the groups of other connectors: leaves relays that are connected
  /// and no longer dialled here, and sends the interests of those that are dialled again.
  func adoptOwn(_ settings: ConnectorSettings, areGroupsNew: Bool) {
    let before = own
    own = OwnAddresses(settings.ownAddresses)
    guard own != before || areGroupsNew else { return }
    ledHome = [:]
    for (url, reason) in links.keys.compactMap({ url in objection(to: url).map { (url, $0) } }) {
      leaveHome(url, reason)
    }
    let refused = wishes.home.keys.compactMap { wishes.taken[$0] }
    for read in refused {
      do throws(Refusal) { try wish(read) } catch {
        log.warning("not asked", metadata: ["relay": "\(read.relay)", "why": "\(error.message)"])
      }
    }
  }

  func linkLedHome(_ link: RelayLink) {
    guard links[link.url] === link else { return }
    log.notice("no longer dialled", metadata: ["relay": "\(link.url)", "why": "\(link.session.lastFailure)"])
    leaveHome(link.url, link.session.lastFailure)
  }

  private func leaveHome(_ url: RelayURL, _ reason: String) {
    if configured.contains(url) { ledHome[url] = reason }
    refuseWishes(at: url, reason)
    retire(url)
    relaysChanged([url])
  }

  /// Refuses all interests at a relay.
  private func refuseWishes(at url: RelayURL, _ reason: String) {
    let keeper = wishes.keepers.removeValue(forKey: url)
    for (key, taken) in wishes.taken where taken.relay == url && taken.wish != nil {
      keeper?.drop(key)
      wishes.home[key] = reason
      changed(key)
    }
  }

  /// A caller of `relay.retry` wants a relay dialled again whose connection led to an own relay.
  func comeBack(to url: RelayURL) throws(Refusal) {
    let reason = ledHome.removeValue(forKey: url)
    for key in wishes.home.keys { if let read = wishes.taken[key], read.relay == url { try wish(read) } }
    guard reason != nil, configured.contains(url), settings.connect != .onDemand else { return }
    try link(url).tell { session, now in session.openRequested(at: now) }
  }
}
