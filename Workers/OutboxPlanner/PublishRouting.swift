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

  /// The worker that dials a relay; nil when there is none at present.
  func publishConnector(of relay: RelayURL) -> String?
}
