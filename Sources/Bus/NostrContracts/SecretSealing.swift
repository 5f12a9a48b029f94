public import Contracts
public import Cryptography
public import Frames
internal import Nostr

// How a passphrase gets from a terminal to the signer. Between them is the hub, which keeps messages: in mailboxes
// while the signer is away, in dead letters on the disk if the signer dies of them. So the terminal's program makes a
// key for this one message, agrees on a secret with the key that the signer made at its start, and encrypts with
// NIP-44, which Roost has anyway.
//
// This does not authenticate the signer: a program between the two could replace the signer's key with its own. Only
// the hub is between them, and it is trusted with messages. The gain is that neither its memory nor its files hold the
// secret.

extension SealedSecret {
  /// The maximum size of a secret, in bytes: a passphrase is the longest.
  public static let byteCountMaximum = Passphrase.byteCountMaximum
  /// The maximum length of a payload that is read, in characters.
  private static let payloadByteCountMaximum = 4_096

  /// Seals bytes, which the caller wipes, for the signer with this sealing key.
  ///
  /// - Throws: `bad-request` for an empty or too long secret, or for an invalid key.
  public static func seal(_ secret: UnsafeRawBufferPointer, for sealingKey: String) throws(Refusal) -> SealedSecret {
    guard (1...byteCountMaximum).contains(secret.count) else {
      throw Refusal(
        .badRequest, "a secret has 1 to \(byteCountMaximum) bytes, and this one has \(secret.count)",
        outcome: .notStarted)
    }
    let once = SecretKey.generate()
    var bytes = Array(secret)
    defer { bytes.wipe() }
    guard let other = PublicKey(sealingKey) else { throw badKey }
    do throws(NIP44Fault) {
      let payload = try NIP44.encrypt(bytes, with: ConversationKey(once, other))
      return SealedSecret(key: once.publicKey.description, payload: payload)
    } catch {
      throw badKey
    }
  }

  private static var badKey: Refusal { Refusal(.badRequest, "the sealing key is no public key", outcome: .notStarted) }

  /// Opens it with the key that it was sealed for, and lends the bytes to `body`.
  ///
  /// - Throws: `sealed-for-another`, or what `body` throws.
  public func open<Value>(
    by key: SecretKey, _ body: (UnsafeRawBufferPointer) throws(Refusal) -> Value
  ) throws(Refusal) -> Value {
    let refusal = Refusal(
      .sealedForAnother,
      "this secret was not sealed for the signer that runs now; ask signer.accounts for its key, and seal it again",
      outcome: .notStarted)
    guard payload.utf8.count <= Self.payloadByteCountMaximum, let sender = PublicKey(self.key) else { throw refusal }
    var bytes: [UInt8]
    do throws(NIP44Fault) {
      bytes = try NIP44.decrypt(payload, with: ConversationKey(key, sender))
    } catch {
      throw refusal
    }
    defer { bytes.wipe() }
    let result = bytes.withUnsafeBytes { bytes -> Result<Value, Refusal> in
      do throws(Refusal) { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
