public import Clocks
public import Nostr

// A protected event is sent where its author has shown himself, and nowhere else (NIP-70). But many relays send their
// challenge only when they refuse something (NIP-42), and to such a relay nothing would ever be sent. The event itself
// cannot be what is refused: a relay that does not know NIP-70 would take it and pass it on. So an event that says
// nothing, protected too, ephemeral, by a key made for it and thrown away, goes before it. A relay that keeps NIP-70
// refuses it and sends its challenge; one that takes it would have taken the real one from anybody, and does not get
// it.

/// How far asking a relay for its challenge is, on one connection.
enum Probe: Equatable {
  /// To be made then, unless a challenge comes by itself.
  case due(Instant)
  /// The shell is making it.
  case making
  /// Its OK has not come.
  case sent(EventID)
  /// The relay took it: it takes protected events from anybody.
  case accepted
  /// The relay refused it, as it should; its challenge follows, or does not.
  case refused

  var deadline: Instant? {
    if case .due(let instant) = self { instant } else { nil }
  }
}

extension RelaySession {
  /// The event that `makeProbe` asked for: a protected one that says nothing, by nobody. `event` is the JSON object
  /// whose id is `id`.
  public mutating func probeMade(event: [UInt8], id: EventID, at now: Instant) -> [SessionAction] {
    guard case .open(var connection) = state, connection.authentications.probe == .making else { return [] }
    connection.authentications.probe = .sent(id)
    state = .open(connection)
    return settled([.send(ClientMessage.publish(event))], at: now)
  }

  /// A protected event waits for a challenge: the relay is asked for one if none comes by itself.
  mutating func planProbe(at now: Instant) {
    guard case .open(var connection) = state, challenge == nil, connection.authentications.probe == nil else { return }
    connection.authentications.probe = .due(now.advanced(milliseconds: limits.challengeMilliseconds))
    state = .open(connection)
  }

  /// Why no protected event is to wait on this connection; nil while nothing is known against the relay.
  var exposure: WorkFailure? {
    guard case .open(let connection) = state, connection.authentications.probe == .accepted else { return nil }
    return WorkFailure(.notProtected, "\(url) takes protected events from anybody (it does not keep NIP-70)")
  }

  mutating func startProbe(at now: Instant, _ actions: inout [SessionAction]) {
    guard case .open(var connection) = state, case .due(let instant)? = connection.authentications.probe,
      instant <= now
    else { return }
    connection.authentications.probe = challenge == nil ? .making : nil
    state = .open(connection)
    if challenge == nil { actions.append(.makeProbe) }
  }

  /// - Returns: nil if the OK is not about the probe.
  mutating func receivedProbeOK(_ id: EventID?, isAccepted: Bool, at now: Instant) -> [SessionAction]? {
    guard let id, case .open(var connection) = state, connection.authentications.probe == .sent(id) else { return nil }
    connection.authentications.probe = isAccepted ? .accepted : .refused
    state = .open(connection)
    var actions: [SessionAction] = []
    if let exposure {
      for (id, publication) in publishes.all where publication.isHeld && publication.isProtected {
        _ = publishes.remove(id)
        actions += publication.claims.map { .failPublish($0.key, exposure) }
      }
    }
    return settled(actions, at: now)
  }
}
