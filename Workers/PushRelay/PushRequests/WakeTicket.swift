public import Cryptography
internal import Frames
public import PushDelivery

// A permission to wake a recipient, which the recipient signs and gives away: in an invoice, over Noise, on a card.
//
//     <base64url of the claims>.<base64url of the signature>          no padding
//     claims     {"v":1,"iss":"<recipient>","sub":"<sender, or *>","exp":<Unix seconds>}
//     signature  Ed25519 by the recipient over  pubky-push-ticket/1:<base64url of the claims>
//
// The relay stores no tickets: any holder of a ticket for `*` can use it until it expires, and so can anyone who sees
// it. A recipient revokes a ticket by blocking the sender: a block overrides any ticket.
//
// The text is signed as it is, after a word with which no request's message begins: so neither can be taken for the
// other, whatever the signing app is asked to sign.

/// A ticket of a valid form; ``verify(recipient:sender:now:)`` decides whether it is valid.
public struct WakeTicket: Hashable, Sendable {
  /// The key that gave it: the recipient of the wakes.
  public let issuer: PushOwner
  /// The sender that may use it; nil: any sender.
  public let holder: PushOwner?
  /// When it expires, Unix seconds.
  public let expiresAt: Int64

  private let message: [UInt8]
  private let signature: [UInt8]

  /// Most characters of a ticket.
  public static let characterCountMaximum = 1_024
  /// How far in the future a ticket may expire: a year and a month. A ticket given for ever could not be revoked.
  public static let lifetimeSecondsMaximum: Int64 = 396 * 86_400
  private static let messagePrefix = "pubky-push-ticket/1:"

  /// Reads a ticket.
  ///
  /// - Throws: `invalid_ticket`.
  public init(_ text: String) throws(PushRefusal) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard text.utf8.count <= Self.characterCountMaximum, parts.count == 2, let claims = Base64URL.bytes(parts[0]),
      let signature = Base64URL.bytes(parts[1]), signature.count == 64
    else { throw Self.refusal("the ticket is not two texts in base64url with a dot between: claims and signature") }
    let body: RequestBody
    do { body = try RequestBody(claims) } catch { throw Self.refusal("the ticket's claims: \(error.message)") }
    guard body.members["v"] == .integer(1) else { throw Self.refusal("the ticket's version 'v' is not 1") }
    guard case .string(let issuer)? = body.members["iss"], let issuer = OwnerName.owner(issuer), issuer.realm == .pubky
    else { throw Self.refusal("the ticket's 'iss' is no key in z-base-32") }
    guard case .string(let holder)? = body.members["sub"], holder == "*" || OwnerName.owner(holder) != nil
    else { throw Self.refusal("the ticket's 'sub' is neither a key nor '*'") }
    guard case .integer(let expiresAt)? = body.members["exp"], expiresAt > 0 else {
      throw Self.refusal("the ticket's 'exp' is not Unix seconds")
    }
    self.issuer = issuer
    self.holder = OwnerName.owner(holder)
    self.expiresAt = expiresAt
    self.signature = signature
    message = Array(Self.messagePrefix.utf8) + Array(parts[0].utf8)
  }

  /// Checks that the ticket lets `sender` wake `recipient` now. One signature is verified, last; nothing is looked up,
  /// so the answer does not show whether the recipient is known here.
  ///
  /// - Throws: `invalid_ticket`.
  public func verify(recipient: PushOwner, sender: PushOwner, now: Int64) throws(PushRefusal) {
    guard issuer == recipient else { throw Self.refusal("the ticket was given for another recipient") }
    guard holder == nil || holder == sender else { throw Self.refusal("the ticket was given to another sender") }
    guard now < expiresAt else { throw Self.refusal("the ticket has expired: ask the recipient for another one") }
    guard expiresAt - now <= Self.lifetimeSecondsMaximum else {
      throw Self.refusal("the ticket expires more than \(Self.lifetimeSecondsMaximum / 86_400) days from now")
    }
    guard let key = Ed25519PublicKey(issuer.key), key.isValid(signature, of: message) else {
      throw Self.refusal("the ticket's signature is not the recipient's")
    }
  }

  /// Writes a ticket: for tests and tools, since the recipient's key is never on the relay's machine.
  ///
  /// - Parameters:
  ///   - key: the recipient's.
  ///   - holder: the sender that may use it; nil: any sender.
  ///   - expiresAt: Unix seconds.
  public static func text(by key: Ed25519SecretKey, holder: PushOwner?, expiresAt: Int64) -> String {
    let issuer = ZBase32.text(of: key.publicKey.octets)
    let claims = #"{"v":1,"iss":"\#(issuer)","sub":"\#(holder?.name ?? "*")","exp":\#(expiresAt)}"#
    let encoded = Base64URL.text(of: Array(claims.utf8))
    return encoded + "." + Base64URL.text(of: key.sign(Array((messagePrefix + encoded).utf8)))
  }

  private static func refusal(_ message: String) -> PushRefusal { PushRefusal(.invalidTicket, message) }
}
