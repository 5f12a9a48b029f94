import Addresses
import Contracts
import Cryptography
import EventLoop
import Nostr
import RelayDials
import RelaySession

/// What the owner of links receives from them.
@EventLoopActor
protocol RelayLinkOwner: AnyObject {
  /// An event came; its bytes are valid during the call.
  func link(_ link: RelayLink, delivered key: RequestKey, _ event: UnsafeRawBufferPointer)
  /// EOSE came; with `isOver` the key is free.
  func link(
    _ link: RelayLink, endedStored key: RequestKey, _ completeness: RelayMessage.Completeness, isOver: Bool)
  /// The relay's next message of a reconciliation came.
  func link(_ link: RelayLink, reconciled key: RequestKey, _ message: [UInt8])
  /// A request has failed; its key is free.
  func link(_ link: RelayLink, failed key: RequestKey, _ failure: WorkFailure)
  /// The relay's OK; the key is free.
  func link(_ link: RelayLink, answered key: PublishKey, isAccepted: Bool, _ reason: RelayReason)
  /// A publish is over without an OK; its key is free.
  func link(_ link: RelayLink, failed key: PublishKey, _ failure: WorkFailure)
  /// The relay sent a NOTICE that may be about this work.
  func link(_ link: RelayLink, noticed key: WorkKey, _ reason: RelayReason)
  /// Have the account sign the challenge (NIP-42).
  func link(_ link: RelayLink, authenticate account: PublicKey, _ challenge: String)
  /// The REQ of a request was sent.
  func link(_ link: RelayLink, sent key: RequestKey)
  /// The trace of what a request is for; nil: it has none.
  func trace(of key: RequestKey, at link: RelayLink) -> UInt64?
  /// The trace of a publish of this event.
  func trace(ofPublish id: EventID, at link: RelayLink) -> UInt64?
  /// What the relay allows has changed.
  func linkPolicyChanged(_ link: RelayLink)
  /// Where this Roost's own relays listen.
  var own: OwnAddresses { get }
  /// The connection led to one of them, and was closed. There is no use in dialling again.
  func linkLedHome(_ link: RelayLink)
  /// The relay has closed the connection with ``Dismissals/closeCode``.
  func linkDismissed(_ link: RelayLink, reason: String)
  /// Why the relay must not be dialled, if it has asked for that.
  func dismissal(of relay: RelayURL) -> (reason: String, milliseconds: UInt64)?
  /// Why the link may not dial now; nil when it may.
  func waitBeforeDial(of link: RelayLink) -> DialBudget.Wait?
  /// The link waits for a dial from now on, or for another reason.
  func linkPostponed(_ link: RelayLink)
  /// Why the link waits for a dial; nil when it does not.
  func dialWait(of link: RelayLink) -> DialBudget.Wait?
  /// The connection has ended, or the dial has failed.
  func dialEnded(_ link: RelayLink, after milliseconds: UInt64)
  /// Whether all work for the relay took its name from other people.
  func isForeign(_ link: RelayLink) -> Bool
  /// The relay is held back from now on, or read again.
  func link(_ link: RelayLink, isHeld: Bool)
  /// The connection has another phase, or (`isNewPhase` false) other accounts have authenticated on it.
  func linkChanged(_ link: RelayLink, isNewPhase: Bool)
}
