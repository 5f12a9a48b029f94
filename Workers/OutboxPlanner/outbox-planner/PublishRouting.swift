import Addresses
import Cryptography
import EventLoop
import Nostr
import OutboxRouting

/// Why an event is not sent.
enum PublishObstacle: Error {
  /// There is nowhere to send it to, whenever it is asked.
  case nowhere(NoRoute)
  /// It is not known yet where: somebody who knows it is away. A sentence without a full stop.
  case unknown(String)
}

/// What the publish queue asks about relays.
@EventLoopActor
protocol PublishRouting: AnyObject {
  /// Where an event is sent, or why nowhere. May take a while: what is not known yet is looked for first.
  ///
  /// - Parameters:
  ///   - named: to these and no others, as the caller says.
  ///   - foreign: to these besides, which somebody else has named.
  func publishRoute(
    _ event: Event, named: [RelayURL]?, foreign: [ForeignRelayURL]
  ) async -> Result<[RelayChoice], PublishObstacle>

  /// Has relays asked for the newest version of an account's list: those that are read, those that the account writes
  /// to, and `named`.
  ///
  /// - Returns: nothing when most of those that the account writes to have sent what they have (of an account that
  ///   names none: most of all), when there is none to ask, or when the author is no account of a person; else the URLs
  ///   of those that have not answered.
  func findList(_ filter: Filter, by author: PublicKey, named: [RelayURL]) async -> [String]

  /// The name of one of our accounts.
  func accountName(_ key: PublicKey) -> String?

  /// The worker that dials a relay now, or why none does: whoever hears that waits for
  /// `PublishService.connectorsChanged`. Each success is followed by one ``publishEnded(at:for:)``.
  func publishBegins(at relay: RelayURL, for purpose: DialBudget.Purpose) -> Result<String, NoRoute>

  /// An attempt has ended, however.
  func publishEnded(at relay: RelayURL, for purpose: DialBudget.Purpose)
}
