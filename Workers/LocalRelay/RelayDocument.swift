import ClientSession
import Contracts
import Frames
import Nostr

/// What the relay says of itself (NIP-11).
struct RelayDocument: Encodable {
  struct Limitation: Encodable {
    let maxMessageLength: Int
    let maxSubscriptions: Int
    let maxSubidLength: Int
    let maxLimit: Int
    let authRequired = false
    let paymentRequired = false
    let restrictedWrites = false

    enum CodingKeys: String, CodingKey {
      case maxMessageLength = "max_message_length"
      case maxSubscriptions = "max_subscriptions"
      case maxSubidLength = "max_subid_length"
      case maxLimit = "max_limit"
      case authRequired = "auth_required"
      case paymentRequired = "payment_required"
      case restrictedWrites = "restricted_writes"
    }
  }

  let name = "Roost"
  let description: String
  let contact: String?
  let supportedNips = [1, 9, 11, 40, 42, 45, 50, 59, 62, 67, 70, 77]
  let software = "roost"
  let version = RoostVersion.text
  let limitation: Limitation

  enum CodingKeys: String, CodingKey {
    case name, description, contact, software, version, limitation
    case supportedNips = "supported_nips"
  }

  init(_ settings: LocalRelaySettings, limits: ClientLimits) {
    let text = settings.description ?? ""
    description =
      text.isEmpty
      ? "A local relay: a cache of one's own, which sends to the world what its owner's accounts sign." : text
    contact = settings.contact.flatMap { $0.isEmpty ? nil : $0 }
    limitation = Limitation(
      maxMessageLength: settings.messageByteCountMaximum, maxSubscriptions: limits.subscriptionMaximum,
      maxSubidLength: ClientMessage.subscriptionCharacterCountMaximum, maxLimit: limits.eventMaximum)
  }
}
