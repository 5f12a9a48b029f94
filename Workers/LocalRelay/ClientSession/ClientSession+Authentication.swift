internal import Cryptography
internal import Nostr

// AUTH: the client proves its key (NIP-42).
//
// A key that has just become an account may authenticate before this relay knows of it. So where an unknown key has no
// access, the relay looks the accounts up again, once for each key, and sends OK only then. When OK arrives, it is
// settled whether the client has access.

extension ClientSession {
  mutating func receivedAuthentication(
    _ range: Range<Int>, in bytes: UnsafeRawBufferPointer, _ environment: ClientEnvironment, time: Int64
  ) -> [ClientAction] {
    let event: Event
    do throws(EventFault) { event = try Event(json: Array(bytes[range])) } catch { return fault("invalid: \(error)") }
    guard shown.contains(event.pubkey) || shown.count < limits.authenticationMaximum else {
      refusedCount += 1
      let most = "\(limits.authenticationMaximum) keys have shown themselves on this connection, and no more may"
      return counted([ok(event.id, false, RelayReason("restricted: \(most)"))])
    }
    do throws(RelayAuthenticationFault) {
      // A challenge that was not sent cannot have been signed; it is compared nevertheless.
      let key = try RelayAuthentication.check(event, relays: addresses, challenge: challenge, now: time)
      guard shown.insert(key).inserted, refusal(environment) != nil else { return [shownOK(event.id)] }
      let work = begin()
      identifying[work] = event.id
      return [.identify(work)]
    } catch {
      refusedCount += 1
      return counted([ok(event.id, false, RelayReason("invalid: \(error)"))])
    }
  }

  /// The accounts have been looked up again.
  public mutating func identified(_ work: ClientWork) -> [ClientAction] {
    guard let id = identifying.removeValue(forKey: work), !isOver else { return [] }
    return [shownOK(id)]
  }

  private func shownOK(_ id: EventID) -> ClientAction { ok(id, true, RelayReason("")) }
}
