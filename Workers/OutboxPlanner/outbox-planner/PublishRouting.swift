import Addresses
import Cryptography
import EventLoop
import Nostr
import OutboxRouting

/// Why an event is not sent.
enum PublishObstacle: Error {
  /// No relay can take it, now or later.
  case nowhere(NoRoute)
  /// The relays are not known yet, because a worker that knows them does not answer. A sentence without a full stop.
  case unknown(String)
}

/// What the publish queue needs to know about relays.
@EventLoopActor
protocol PublishRouting: AnyObject {
  /// The relays for an event, or why there are no relays for it. May take a while: missing lists are looked for first.
  ///
  /// - Parameters:
  ///   - named: the caller's choice: only these relays are used.
  ///   - foreign: further relays, which others name.
  func publishRoute(
    _ event: Event, named: [RelayURL]?, foreign: [ForeignRelayURL]
  ) async -> Result<[RelayChoice], PublishObstacle>

  /// Requests the newest version of an account's list from relays: those used for reading, those that the account
  /// writes to, and `named`.
  ///
  /// - Returns: nothing when most relays that the account writes to have sent what they have (for an account without
  ///   such relays: most of all relays), when no relay can be used, or when the author is no account of a person; else
  ///   the URLs of the relays that have not answered.
  func findList(_ filter: Filter, by author: PublicKey, named: [RelayURL]) async -> [String]

  /// The name of one of our accounts.
  func accountName(_ key: PublicKey) -> String?

  /// The worker that dials a relay now, or why no worker does; after a failure the caller waits for
  /// `PublishService.connectorsChanged`. Each success must be followed by one ``publishEnded(at:for:)``.
  func publishBegins(at relay: RelayURL, for purpose: DialBudget.Purpose) -> Result<String, NoRoute>

  /// An attempt has ended, with any outcome.
  func publishEnded(at relay: RelayURL, for purpose: DialBudget.Purpose)
}
