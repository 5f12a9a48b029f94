import Addresses
import Cryptography
import PushDelivery
import PushLedger
import PushRequests
import PushRules

// What is different for owners of Nostr keys: which of them may have a device here, and what wakes them.

extension PushFront {
  static let rulesNeedNostr = PushRefusal(
    .invalidSignature,
    "rules are for events of Nostr: sign with the Nostr key that they are for (Authorization: Nostr …, NIP-98)")

  static let tooManyNostrKeys = PushRefusal(
    .notAllowed, "this relay watches for as many keys as it may: ask its operator")

  /// Checks that a Nostr key may store something here.
  func admit(nostrKeyOf owner: PushOwner) async throws(PushRefusal) {
    guard owner.realm == .nostr else { return }
    switch await backend.nostrStanding(of: owner) {
    case .allowed: return
    case .refused:
      throw PushRefusal(
        .notAllowed,
        "this relay watches for events of its own people only, and this key is not one of theirs: ask its operator to add "
          + "it to nostr-owners")
    case .full: throw Self.tooManyNostrKeys
    case .unknown: throw .unavailable(retryAfterSeconds: 5)
    }
  }

  /// `GET /rules`, `PUT /rules`.
  func eventRules(
    _ target: PushTarget, _ message: SignedMessage, _ body: [UInt8], from address: IPAddress?, now: Int64
  ) async throws(PushRefusal) -> FrontReply {
    guard message.owner.realm == .nostr else { throw Self.rulesNeedNostr }
    if target.route == .writeRules {
      try admit(changeBy: message.owner, from: address, now: now)
      try await admit(nostrKeyOf: message.owner)
      let rules = try WakeRules(RequestBody(body, byteCountMaximum: target.route.bodyByteCountMaximum))
      let command = RulesCommand(
        message: message, rules: PushReply.rules(rules), keepUntil: now + FrontRules.registrationSeconds)
      _ = try await finish(.rules(command))
    }
    guard let rules = await backend.eventRules(of: message.owner) else { throw .unavailable(retryAfterSeconds: 5) }
    return FrontReply(PushReply.rules(rules))
  }
}
