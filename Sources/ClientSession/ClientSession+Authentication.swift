internal import Cryptography
internal import Nostr

// AUTH: who the client is (NIP-42).

extension ClientSession {
  mutating func receivedAuthentication(
    _ range: Range<Int>, in bytes: UnsafeRawBufferPointer, time: Int64
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
      shown.insert(try RelayAuthentication.check(event, relays: addresses, challenge: challenge, now: time))
      return [ok(event.id, true, RelayReason(""))]
    } catch {
      refusedCount += 1
      return counted([ok(event.id, false, RelayReason("invalid: \(error)"))])
    }
  }
}
