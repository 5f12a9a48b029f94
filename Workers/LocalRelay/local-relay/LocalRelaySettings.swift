import ClientSession
import Contracts
import Cryptography
import EventLoop
import Frames
import Nostr
import WebSocket

extension LocalRelaySettings {
  /// The addresses on which to listen.
  func addresses() throws(Refusal) -> [SocketAddress] {
    try listen.map { text throws(Refusal) in
      do throws(ListenAddressFault) {
        let address = try ListenAddress(text)
        return SocketAddress(address.host, port: address.port)
      } catch {
        throw Refusal(.failed, "listen: \(error)")
      }
    }
  }

  /// The bounds of one client.
  var clientLimits: ClientLimits {
    var limits = ClientLimits()
    limits.subscriptionMaximum = subscriptionsMaximum
    limits.filterMaximum = filtersMaximum
    limits.eventsPerSecond = eventsPerSecond
    limits.eventBurst = 2 * limits.eventsPerSecond
    limits.requestsPerSecond = requestsPerSecond
    limits.requestBurst = 4 * limits.requestsPerSecond
    // A message has few bytes around its event.
    limits.eventByteCountMaximum = min(messageBytes - 64, EventLimit.byteCountMaximum())
    return limits
  }

  /// The bounds of the server.
  var serverLimits: WebSocketServerLimits {
    var limits = WebSocketServerLimits()
    limits.connectionsMaximum = connectionsMaximum
    limits.connection.messageByteCountMaximum = messageBytes
    // An HTTP answer, and more for a stalled client.
    limits.connection.pendingByteCountMaximum = Outflow.mark + (4 << 20)
    return limits
  }

  /// The clients whose queries also go to the network: pages of these origins, and clients that have authenticated with
  /// one of these keys.
  func fetchers() throws(Refusal) -> (origins: Set<Origin>, keys: Set<PublicKey>) {
    var fetchers: (origins: Set<Origin>, keys: Set<PublicKey>) = ([], [])
    for text in fetchClients {
      if let origin = Origin(text) {
        fetchers.origins.insert(origin)
      } else {
        fetchers.keys.insert(try Self.key(text, of: "fetch-clients"))
      }
    }
    return fetchers
  }

  /// Keys that may use the relay as guests.
  func guestKeys() throws(Refusal) -> Set<PublicKey> {
    Set(try guests.map { text throws(Refusal) in try Self.key(text, of: "guests") })
  }

  /// The configuration has checked the form of a key, but not its checksum.
  private static func key(_ text: String, of setting: String) throws(Refusal) -> PublicKey {
    do throws(EntityFault) { return try PublicKey(spelled: text) } catch {
      throw Refusal(.failed, "\(setting): \"\(text)\": \(error)")
    }
  }
}
