public import Cryptography
public import Nostr

/// Names a piece of a client's work for the shell; never used twice on a connection.
public struct ClientWork: Hashable, Sendable, Comparable {
  /// Increases with each.
  public let rawValue: UInt64

  init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// The order in which they were begun.
  public static func < (left: ClientWork, right: ClientWork) -> Bool { left.rawValue < right.rawValue }
}

/// Filters of a client, and what is given to it of what they match.
public struct ClientQuery: Hashable, Sendable {
  /// The filters, each with a limit.
  public var filters: [Filter]
  /// Gift wraps are given only if they are for one of these (NIP-59).
  public var recipients: [PublicKey]

  /// Ids, authors, kinds and tag values that its filters name.
  public var valueCount: Int { ClientSession.valueCount(filters) }
}

/// Where an event of a client goes.
public enum EventDestination: Hashable, Sendable {
  /// To the store, and no further: the client uses this relay as its cache.
  case store
  /// To the relays of its author, by the publish queue.
  case world
}

/// What became of a client's event.
public enum EventOutcome: Hashable, Sendable {
  /// Kept, or accepted for the world; or passed on, if it is ephemeral. `note` is empty or says what to know of it.
  case taken(note: String)
  /// It was here.
  case duplicate
  /// A newer one is in its place.
  case superseded
  /// Its author has deleted it, or has vanished.
  case deleted
  /// Over by its own `expiration`.
  case expired
  /// Not an event, or not signed by who it says.
  case invalid(String)
  /// Nothing is wrong with it, and it could not be taken.
  case failed(String)
}

/// What the shell of a ``ClientSession`` is to do, in order.
public enum ClientAction: Hashable, Sendable {
  /// Send this message.
  case send([UInt8])
  /// Give it what is stored and what comes; report `storedEnd` and, if it ends by itself, `observeEnded`.
  case observe(ClientWork, ClientQuery)
  /// Give nothing more to that.
  case endObserve(ClientWork)
  /// Count; report `counted` or `countFailed`.
  case count(ClientWork, ClientQuery)
  /// Bring the event that stands in this range of the message just received there; report `settled`.
  case take(ClientWork, event: Range<Int>, EventDestination)
  /// Begin to reconcile what the filter matches; report `reconciled` or `reconciliationFailed`.
  case openReconciliation(ClientWork, ClientQuery, message: [UInt8])
  /// The client's next message of a reconciliation.
  case continueReconciliation(ClientWork, message: [UInt8])
  /// Forget a reconciliation.
  case endReconciliation(ClientWork)
  /// Ask again who the accounts are; report `identified`.
  case identify(ClientWork)
  /// Read nothing more from the client for now.
  case pauseReading
  /// Read on.
  case resumeReading
  /// Close the connection with this code; nothing is sent any more.
  case close(code: UInt16, reason: String)
}

/// Who is who, outside of the connection.
public struct ClientEnvironment: Sendable, Hashable {
  /// Accounts of the signer: what they sign is for the world.
  public var accounts: Set<PublicKey>
  /// Other keys that may use the relay where showing oneself is required.
  public var guests: Set<PublicKey>

  /// Nobody, unless said.
  public init(accounts: Set<PublicKey> = [], guests: Set<PublicKey> = []) {
    self.accounts = accounts
    self.guests = guests
  }
}

/// What has to be shown before anything is done for a client.
public enum ClientRequirement: Hashable, Sendable {
  /// Nothing.
  case open
  /// That it is an account of this house, or a guest (NIP-42); the sentence's end says why.
  case closed(why: String)
}
