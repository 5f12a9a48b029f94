import Bus
import Contracts
import Cryptography
import Frames
import Nostr
import NostrContracts

// The text in which a role keeps its data key for an account:
//
//     NIP-44, from the account to itself, of "roost-data-key 1 ROLE " and 64 hexadecimal digits
//
// The role is within the encrypted text, so a role can have nothing else opened this way: no other role's key, and
// no message of the account.

/// Makes and opens the data keys of one role.
struct DataKeyText {
  /// The role that keeps it.
  let role: String

  /// Longest text that is opened, in characters; those that are made are shorter.
  private static let byteCountMaximum = 1_024
  private static let keyByteCount = 32
  private var label: [UInt8] { Array("roost-data-key 1 \(role) ".utf8) }

  /// Performs a request.
  func answer(_ wanted: SignerDataKeyRequest, by account: SecretKey) throws(Refusal) -> BusPayload {
    var made = [UInt8]()
    defer { made.wipe() }
    let text: String
    if let known = wanted.text {
      made = try opened(known, by: account)
      text = known
    } else {
      made = RandomBytes.make(Self.keyByteCount)
      text = try sealed(made, by: account)
    }
    let key = try Self.sealed(made, for: wanted.sealingKey)
    return BusPayload(
      json: SignerDataKey(account: account.publicKey.description, key: key, text: text))
  }

  private static func sealed(_ key: [UInt8], for sealingKey: String) throws(Refusal) -> SealedSecret {
    let result = key.withUnsafeBytes { bytes in
      Result { () throws(Refusal) in try SealedSecret.seal(bytes, for: sealingKey) }
    }
    return try result.get()
  }

  private func sealed(_ key: [UInt8], by account: SecretKey) throws(Refusal) -> String {
    var plaintext = label
    // Reserve once: growing would leave a buffer that is not wiped.
    plaintext.reserveCapacity(label.count + 2 * Self.keyByteCount)
    var digits = key.withUnsafeBytes { Hexadecimal.encode($0) }
    plaintext.append(contentsOf: digits)
    defer {
      plaintext.wipe()
      digits.wipe()
    }
    do throws(NIP44Fault) {
      return try NIP44.encrypt(plaintext, with: ConversationKey(account, account.publicKey))
    } catch {
      throw Refusal(.failed, "the data key cannot be encrypted: \(error)", outcome: .notStarted)
    }
  }

  private func opened(_ text: String, by account: SecretKey) throws(Refusal) -> [UInt8] {
    guard text.utf8.count <= Self.byteCountMaximum else { throw SignerJob.bad("'text' is too long for a data key") }
    var plaintext: [UInt8]
    do throws(NIP44Fault) {
      plaintext = try NIP44.decrypt(text, with: ConversationKey(account, account.publicKey))
    } catch {
      throw SignerJob.bad("'text': \(error)")
    }
    defer { plaintext.wipe() }
    let digits = plaintext.dropFirst(label.count)
    guard plaintext.starts(with: label), digits.count == 2 * Self.keyByteCount,
      let key = Hexadecimal.decode(digits)
    else {
      throw Refusal(.forbidden, "'text' is no data key of the role \(role)", outcome: .notStarted)
    }
    return key
  }
}
