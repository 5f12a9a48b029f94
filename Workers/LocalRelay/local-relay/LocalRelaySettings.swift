import ClientSession
import Contracts
import Cryptography
import EventLoop
import Frames
import Nostr
import WebSocket

/// The settings of a local relay in `supervisor.conf`.
struct LocalRelaySettings: Decodable, Sendable {
  /// Addresses to listen at, `127.0.0.1:4869`.
  var listen: [String]?
  /// Further names that clients may know it by, beside those of its own machine.
  var hosts: [String]?
  /// The certificate chain and the key, in PEM; "" for none.
  var certificateFile: String?
  var keyFile: String?
  /// Keys that may come in where one has to show oneself, beside the accounts; npub or 64 hexadecimal digits.
  var guests: [String]?
  /// Users of this machine that are no strangers here, besides its own: `allow-uids` of roostd, which sends it.
  var allowUids: [UInt32]?
  /// Whether what clients ask for is asked of the network as well: all, of these origins or keys, by these filters.
  var fetch: Bool?
  var fetchClients: [String]?
  var fetchFilters: [String]?
  /// What NIP-11 tells beside what is so.
  var description: String?
  var contact: String?
  // Bounds.
  var connectionsMaximum: Int?
  var subscriptionsMaximum: Int?
  var filtersMaximum: Int?
  var messageBytes: Int?
  var eventsPerSecond: Int?
  var requestsPerSecond: Int?
  var slowClientMilliseconds: UInt64?

  /// Where Nostr's local relays are looked for.
  static let standardListen = ["127.0.0.1:4869", "[::1]:4869"]

  /// Where it listens.
  func addresses() throws(Refusal) -> [SocketAddress] {
    try (listen ?? Self.standardListen).map { text throws(Refusal) in
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
    limits.subscriptionMaximum = subscriptionsMaximum ?? limits.subscriptionMaximum
    limits.filterMaximum = filtersMaximum ?? limits.filterMaximum
    limits.eventsPerSecond = eventsPerSecond ?? limits.eventsPerSecond
    limits.eventBurst = 2 * limits.eventsPerSecond
    limits.requestsPerSecond = requestsPerSecond ?? limits.requestsPerSecond
    limits.requestBurst = 4 * limits.requestsPerSecond
    // What stands around an event in its message is little.
    limits.eventByteCountMaximum = min(messageByteCountMaximum - 64, EventLimit.byteCountMaximum())
    return limits
  }

  /// Bytes of one message of a client.
  var messageByteCountMaximum: Int { messageBytes ?? 512 << 10 }

  /// The bounds of the server.
  var serverLimits: WebSocketServerLimits {
    var limits = WebSocketServerLimits()
    limits.connectionsMaximum = connectionsMaximum ?? limits.connectionsMaximum
    limits.connection.messageByteCountMaximum = messageByteCountMaximum
    // An answer of HTTP, and what a stalled client is owed besides.
    limits.connection.pendingByteCountMaximum = Outflow.mark + (4 << 20)
    return limits
  }

  /// Whose requests the network is asked as well: pages of these origins, and whoever has shown one of these keys.
  func fetchers() throws(Refusal) -> (origins: Set<Origin>, keys: Set<PublicKey>) {
    var fetchers: (origins: Set<Origin>, keys: Set<PublicKey>) = ([], [])
    for text in fetchClients ?? [] {
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
    Set(try (guests ?? []).map { text throws(Refusal) in try Self.key(text, of: "guests") })
  }

  /// The configuration has looked at the shape of a key, and not at its checksum.
  private static func key(_ text: String, of setting: String) throws(Refusal) -> PublicKey {
    do throws(EntityFault) { return try PublicKey(spelled: text) } catch {
      throw Refusal(.failed, "\(setting): \"\(text)\": \(error)")
    }
  }
}
