import Addresses
import Contracts
import EventLoop
import Frames
import Logging
import Nostr
import RelaySession

// This Roost's own relays, which are not dialled: what they would bring is in the store already, and what they would be
// sent comes back to whoever sends it. Where they listen roostd says; see `OwnAddresses`.
//
// Most are known by their URL, and for those there is never a link. The others are known when a connection has led
// there: its work fails, its wishes are refused, and the link is left. Nothing of it is kept for names that callers
// give, because a name may lead elsewhere tomorrow: new work dials again, and is told again.

extension OwnAddresses {
  /// Why a connection between these ends is not wanted, if so.
  func objection(to peer: SocketAddress, from local: SocketAddress) -> String? {
    includes(peer: peer.host, port: peer.port, local: local.host) ? Self.reason : nil
  }
}

extension Connector {
  /// Whether the URL says that it is one of our own.
  func isOwn(_ url: RelayURL) -> Bool { own.includes(host: url.host, port: url.port) }

  /// - Throws: `own-relay` for a URL that is one of our own.
  func refuseOwn(_ url: RelayURL) throws(Refusal) {
    guard isOwn(url) else { return }
    throw Refusal(.ownRelay, "\(url) is not dialled: \(OwnAddresses.reason)", outcome: .notStarted)
  }

  /// Why a relay that is not connected will not be; nil when that is not known.
  func reasonAgainst(_ url: RelayURL) -> String? { isOwn(url) ? OwnAddresses.reason : ledHome[url] }

  /// Takes over where our own relays listen: leaves those that are connected, and asks those that are none any more.
  func adoptOwn(_ settings: ConnectorSettings) {
    let before = own
    own = OwnAddresses(settings.ownAddresses)
    guard own != before else { return }
    ledHome = [:]
    for url in links.keys where isOwn(url) { leaveHome(url, OwnAddresses.reason) }
    let refused = wishes.home.keys.compactMap { wishes.taken[$0] }
    for read in refused {
      do throws(Refusal) { try wish(read) } catch {
        log.warning("not asked", metadata: ["relay": "\(read.relay)", "why": "\(error.message)"])
      }
    }
  }

  func linkLedHome(_ link: RelayLink) {
    guard links[link.url] === link else { return }
    log.notice("not dialled any more", metadata: ["relay": "\(link.url)", "why": "\(link.session.lastFailure)"])
    leaveHome(link.url, link.session.lastFailure)
  }

  private func leaveHome(_ url: RelayURL, _ reason: String) {
    if configured.contains(url) { ledHome[url] = reason }
    refuseWishes(at: url, reason)
    retire(url)
    relaysChanged([url])
  }

  /// What is wished of a relay is not to be had.
  private func refuseWishes(at url: RelayURL, _ reason: String) {
    let keeper = wishes.keepers.removeValue(forKey: url)
    for (key, taken) in wishes.taken where taken.relay == url && taken.wish != nil {
      keeper?.drop(key)
      wishes.home[key] = reason
      changed(key)
    }
  }

  /// Somebody wants a relay dialled again that has led home.
  func comeBack(to url: RelayURL) throws(Refusal) {
    let reason = ledHome.removeValue(forKey: url)
    for key in wishes.home.keys { if let read = wishes.taken[key], read.relay == url { try wish(read) } }
    guard reason != nil, configured.contains(url), settings.connect != .onDemand else { return }
    try link(url).tell { session, now in session.openRequested(at: now) }
  }
}
