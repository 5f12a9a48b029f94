import EventLoop
import Nostr
import OutboxPlan

/// What the publish queue asks about relays.
@EventLoopActor
protocol PublishRouting: AnyObject {
  /// Where an event is sent, or why nowhere. May take a while: what is not known yet is looked for first.
  ///
  /// - Parameter named: to these and no others, as the caller says.
  func publishRoute(_ event: Event, named: [RelayURL]?) async -> Result<[RelayChoice], NoRoute>

  /// The worker that dials a relay now, or why none does: whoever hears that waits for `Publishing.connectorsChanged`.
  /// Each success is followed by one ``publishEnded(at:for:)``.
  func publishBegins(at relay: RelayURL, for purpose: DialBudget.Purpose) -> Result<String, NoRoute>

  /// An attempt has ended, however.
  func publishEnded(at relay: RelayURL, for purpose: DialBudget.Purpose)
}
