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
  /// By which address Nostr keys sign for this relay.
  var nostr: NostrRequests
  /// Whose pages may ask.
  var origins = CrossOrigin()

  /// Devices of one owner.
  var deviceMaximum = PushLedger.deviceMaximum
  /// Owners of Nostr keys.
  var nostrKeyMaximum = PushLedger.nostrKeyMaximum

  /// How long a registration lasts: 30 days.
  static let registrationSeconds: Int64 = 30 * 86_400
}
