public import Contracts
public import Nostr

extension EncryptedForm {
  /// The signer's method that encrypts to this form.
  public var encryption: Method<SignerCipher, SignerText> {
    switch self {
    case .nip04: SignerMethod.nip04Encrypt
    case .nip44: SignerMethod.nip44Encrypt
    }
  }

  /// The signer's method that decrypts this form.
  public var decryption: Method<SignerCipher, SignerText> {
    switch self {
    case .nip04: SignerMethod.nip04Decrypt
    case .nip44: SignerMethod.nip44Decrypt
    }
  }
}
