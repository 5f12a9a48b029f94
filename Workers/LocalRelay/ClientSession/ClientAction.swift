public import Cryptography
public import Nostr

/// The name of a piece of a client's work for the shell; never used twice on a connection.
public struct ClientWork: Hashable, Sendable, Comparable {
  /// Increases with each piece.
  public let rawValue: UInt64

  init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// The order in which they began.
  public static func < (left: ClientWork, right: ClientWork) -> Bool { left.rawValue < right.rawValue }
}

/// The filters of a client, and the recipients whose gift wraps it may receive.
public struct ClientQuery: Hashable, Sendable {
  /// The filters, each with a limit.
  public var filters: [Filter]
  /// The only recipients whose gift wraps the client receives (NIP-59).
  public var recipients: [PublicKey]

  /// The number of ids, authors, kinds and tag values in its filters.
  public var valueCount: Int { ClientSession.valueCount(filters) }
}

/// Where an event of a client goes.
public enum EventDestination: Hashable, Sendable {
  /// To the store only: the client uses this relay as its cache.
  case store
  /// To the store: another Roost of the same owner sends it, and publishes it if that is to be done. `isOwn` says
  /// whether an account signed it.
  case shared(isOwn: Bool)
  /// To the relays of its author, through the publish queue.
  case world
}

/// What became of a client's event.
public enum EventOutcome: Hashable, Sendable {
  /// Stored, accepted for publication, or passed on if it is ephemeral. `note` is empty, or says what the client should
  /// know.
  case taken(note: String)
  /// It was already stored.
  case duplicate
  /// A newer event is stored in its place.
  case superseded
  /// Its author has deleted it, or has vanished.
  case deleted
  /// It has expired, by its own `expiration`.
  case expired
  /// Not an event, or not signed by its author.
  case invalid(String)
  /// The event is valid, but could not be accepted.
  case failed(String)
}

/// What the shell of a ``ClientSession`` does, in order.
public enum ClientAction: Hashable, Sendable {
  /// Send this message.
  case send([UInt8])
  /// Send the client the stored events, then the new ones; report `storedEnd` and, if the store ends it,
  /// `observeEnded`.
  case observe(ClientWork, ClientQuery)
  /// Send nothing more for that work.
  case endObserve(ClientWork)
  /// Count; report `counted` or `countFailed`.
  case count(ClientWork, ClientQuery)
  /// Take the event in this range of the message just received to its destination; report `settled`.
  case take(ClientWork, event: Range<Int>, EventDestination)
  /// Start to reconcile what the filter matches; report `reconciled` or `reconciliationFailed`.
  case openReconciliation(ClientWork, ClientQuery, message: [UInt8])
  /// Pass on the client's next message of a reconciliation.
  case continueReconciliation(ClientWork, message: [UInt8])
  /// End a reconciliation.
  case endReconciliation(ClientWork)
  /// Exchange publications: the object in this range of the message just received is another Roost's, and these are the
  /// accounts that it has shown; report `exchanged` or `exchangeFailed`.
  case exchange(ClientWork, body: Range<Int>, accounts: Set<PublicKey>)
  /// Look the accounts up again; report `identified`.
  case identify(ClientWork)
  /// Read nothing more from the client for now.
  case pauseReading
  /// Read from the client again.
  case resumeReading
  /// Close the connection with this code; nothing is sent after it.
  case close(code: UInt16, reason: String)
}

/// Keys that have rights, as known outside of the connection.
public struct ClientEnvironment: Sendable, Hashable {
  /// Accounts of the signer: events that they sign are published.
  public var accounts: Set<PublicKey>
  /// Other keys that may use the relay where authentication is required.
  public var guests: Set<PublicKey>

  /// By default, no keys.
  public init(accounts: Set<PublicKey> = [], guests: Set<PublicKey> = []) {
    self.accounts = accounts
    self.guests = guests
  }
}

/// What a client must prove before the relay serves it.
public enum ClientRequirement: Hashable, Sendable {
  /// Nothing.
  case open
  /// That it is an account of this Roost, or a guest (NIP-42); `why` is the end of the sentence for the client.
  case closed(why: String)
}
