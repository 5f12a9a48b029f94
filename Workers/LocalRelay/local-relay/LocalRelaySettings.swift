import ClientSession
import Contracts
import Cryptography
import EventLoop
import Frames
import Nostr
import WebSocket

extension LocalRelaySettings {
  /// Where it listens.
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
    // What stands around an event in its message is little.
    limits.eventByteCountMaximum = min(messageBytes - 64, EventLimit.byteCountMaximum())
    return limits
  }

  /// The bounds of the server.
  var serverLimits: WebSocketServerLimits {
    var limits = WebSocketServerLimits()
    limits.connectionsMaximum = connectionsMaximum
    limits.connection.messageByteCountMaximum = messageBytes
    // An answer of HTTP, and what a stalled client is owed besides.
    limits.connection.pendingByteCountMaximum = Outflow.mark + (4 << 20)
    return limits
  }

  /// Whose requests the network is asked as well: pages of these origins, and whoever has shown one of these keys.
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

  /// Keys that may come in.
  func guestKeys() throws(Refusal) -> Set<PublicKey> {
    Set(try guests.map { text throws(Refusal) in try Self.key(text, of: "guests") })
  }

  /// The configuration has looked at the shape of a key, and not at its checksum.
  private static func key(_ text: String, of setting: String) throws(Refusal) -> PublicKey {
    do throws(EntityFault) { return try PublicKey(spelled: text) } catch {
      throw Refusal(.failed, "\(setting): \"\(text)\": \(error)")
    }
  }
}
