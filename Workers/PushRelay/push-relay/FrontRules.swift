import PushAdmission
import PushDelivery
import PushLedger
import PushRequests

/// What is the same for all requests.
struct FrontRules: Sendable {
  var mount = PushMount()
  var signatures: SignatureRules
  var proxies: ProxyTrust
  var disclosure: DisclosurePolicy
  var admission: AdmissionPolicy
  var classes: WakeClasses
  var messages: PushMessageSettings
  var allowsPrivateEndpoints: Bool
  var info: PushRelayInfo
  /// The address that Nostr keys sign for this relay.
  var nostr: NostrRequests
  /// The origins whose pages may use the relay.
  var origins = CrossOrigin()

  /// Most devices of one owner.
  var deviceMaximum = PushLedger.deviceMaximum
  /// Most owners of Nostr keys.
  var nostrKeyMaximum = PushLedger.nostrKeyMaximum

  /// How long a registration lasts: 30 days.
  static let registrationSeconds: Int64 = 30 * 86_400
}
