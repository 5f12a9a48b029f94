public import Clocks
public import Nostr

// A protected event is sent only where its author has authenticated (NIP-70). But many relays send their challenge only
// when they refuse something (NIP-42), so such a relay would never get the event. The event itself cannot be used to
// cause a refusal: a relay without NIP-70 would take it and pass it on. So the session first sends a probe: an empty
// event, protected and ephemeral, signed by a key that is made for it and then thrown away. A relay that keeps NIP-70
// refuses the probe and sends its challenge. A relay that accepts the probe would accept the real event from any
// client, and does not get it.

/// How far the session is in asking a relay for its challenge, on one connection.
enum Probe: Equatable {
  /// The probe is made at this time, unless a challenge comes first.
  case due(Instant)
  /// The shell is making the probe.
  case making
  /// The probe was sent; its OK has not come.
  case sent(EventID)
  /// The relay took the probe: it takes protected events from any client.
  case accepted
  /// The relay refused the probe, as it should. Its challenge follows, or not.
  case refused

  var deadline: Instant? {
    if case .due(let instant) = self { instant } else { nil }
  }
}

extension RelaySession {
  /// The probe that `makeProbe` asked for: an empty, protected event signed by a key without an owner. `event` is the
  /// JSON object whose id is `id`.
  public mutating func probeMade(event: [UInt8], id: EventID, at now: Instant) -> [SessionAction] {
    guard case .open(var connection) = state, connection.authentications.probe == .making else { return [] }
    connection.authentications.probe = .sent(id)
    state = .open(connection)
    return settled([.send(ClientMessage.publish(event))], at: now)
  }

  /// A protected event waits for a challenge: the session asks for one if none comes in time.
  mutating func planProbe(at now: Instant) {
    guard case .open(var connection) = state, challenge == nil, connection.authentications.probe == nil else { return }
    connection.authentications.probe = .due(now.advanced(milliseconds: limits.challengeMilliseconds))
    state = .open(connection)
  }

  /// Why no protected event may wait on this connection; nil while there is no such reason.
  var exposure: WorkFailure? {
    guard case .open(let connection) = state, connection.authentications.probe == .accepted else { return nil }
    return WorkFailure(.notProtected, "\(url) takes protected events without authentication (it does not keep NIP-70)")
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
