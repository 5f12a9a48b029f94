internal import Cryptography
internal import Nostr

// AUTH: who the client is (NIP-42).
//
// Whoever has just become an account may show himself before this relay has heard of it. So where the door is closed to
// a key that nobody here knows, it is asked again who the accounts are, once for a key, and OK is said afterwards: by
// then the client may come in, or may not.

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
      // A challenge that was not sent cannot have been signed; it is compared all the same.
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

  /// It was asked again who the accounts are.
  public mutating func identified(_ work: ClientWork) -> [ClientAction] {
    guard let id = identifying.removeValue(forKey: work), !isOver else { return [] }
    return [shownOK(id)]
  }

  private func shownOK(_ id: EventID) -> ClientAction { ok(id, true, RelayReason("")) }
}
