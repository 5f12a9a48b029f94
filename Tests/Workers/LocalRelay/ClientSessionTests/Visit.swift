import Addresses
import ClientSession
import Clocks
import Cryptography
import Nostr
import Testing

/// A client's visit: messages in, answers out, in virtual time.
final class Visit {
  var session: ClientSession
  var house: ClientEnvironment
  var now = Instant(nanoseconds: 1_000_000_000)
  let time: Int64 = 1_700_000_000
  /// What the session wanted done since the last ``taken()``, without messages.
  private(set) var actions: [ClientAction] = []
  private(set) var texts: [String] = []

  static let address = (try? RelayURL("ws://127.0.0.1:4869"))!

  init(
    requirement: ClientRequirement = .open, limits: ClientLimits = ClientLimits(),
    isPeer: Bool = false, house: ClientEnvironment = ClientEnvironment()
  ) {
    self.house = house
    session = ClientSession(
      requirement: requirement, limits: limits, isPeer: isPeer, challenge: "c0ffee", addresses: [Self.address])
  }

  /// The client says something; returns what it is answered at once.
  @discardableResult
  func say(_ text: String) -> [String] {
    let bytes = Array(text.utf8)
    return bytes.withUnsafeBytes { bytes in
      let message: ClientMessage
      do throws(ClientMessageFault) { message = try ClientMessage(bytes) } catch {
        return note { $0.receivedFault(error) }
      }
      return note { [house, now, time] in $0.received(message, in: bytes, house, at: now, time: time) }
    }
  }

  @discardableResult
  func say(_ event: Event) -> [String] { say(#"["EVENT",\#(String(decoding: event.json, as: UTF8.self))]"#) }

  /// Something happens; returns the messages that follow at once.
  @discardableResult
  func note(_ step: (inout ClientSession) -> [ClientAction]) -> [String] {
    var said: [String] = []
    for action in step(&session) {
      if case .send(let bytes) = action {
        said.append(String(decoding: bytes, as: UTF8.self))
      } else {
        actions.append(action)
      }
    }
    texts += said
    return said
  }

  func taken() -> [ClientAction] {
    defer { actions = [] }
    return actions
  }

  func advance(milliseconds: UInt64) { now = now.advanced(milliseconds: milliseconds) }

  // MARK: What is to be done

  var observes: [(work: ClientWork, question: ClientQuery)] {
    actions.compactMap { if case .observe(let work, let question) = $0 { (work, question) } else { nil } }
  }
  var counts: [(work: ClientWork, question: ClientQuery)] {
    actions.compactMap { if case .count(let work, let question) = $0 { (work, question) } else { nil } }
  }
  var taking: [(work: ClientWork, destination: EventDestination)] {
    actions.compactMap { if case .take(let work, _, let destination) = $0 { (work, destination) } else { nil } }
  }
  var ends: [ClientWork] { actions.compactMap { if case .endObserve(let work) = $0 { work } else { nil } } }
  var closing: (code: UInt16, reason: String)? {
    for case .close(let code, let reason) in actions { return (code, reason) }
    return nil
  }

  /// The client shows itself.
  @discardableResult
  func authenticate(_ key: SecretKey, relay: String = "ws://127.0.0.1:4869/", challenge: String = "c0ffee") -> [String]
  {
    let event = UnsignedEvent(
      pubkey: key.publicKey, createdAt: time, kind: EventKind.relayAuthentication,
      tags: [["relay", relay], ["challenge", challenge]]
    ).signed(by: key)
    return say(#"["AUTH",\#(String(decoding: event.json, as: UTF8.self))]"#)
  }
}

/// An event of its author's.
func event(
  by key: SecretKey = SecretKey.generate(), kind: UInt16 = 1, tags: [[String]] = [], content: String = "hello"
) -> Event {
  UnsignedEvent(pubkey: key.publicKey, createdAt: 1_700_000_000, kind: kind, tags: tags, content: content)
    .signed(by: key)
}
