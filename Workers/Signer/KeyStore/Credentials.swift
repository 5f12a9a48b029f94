public import Cryptography
internal import Glibc
internal import LinuxSystem

// Secrets from a service manager (systemd.exec(5), LoadCredentialEncrypted=): files in `$CREDENTIALS_DIRECTORY`, which
// a machine with a TPM decrypts for this service alone. The signer reads two kinds, by their names:
//
//     roost.key.NAME           a secret key; the account NAME exists as long as the process, and is never stored
//     roost.passphrase.NAME    the passphrase of the account NAME, which is unlocked at the start

/// The credentials that the service manager provides.
public struct Credentials: Sendable {
  /// Secret keys by the account's name.
  public var keys: [String: SecretText] = [:]
  /// Passphrases by the account's name.
  public var passphrases: [String: Passphrase] = [:]
  /// Credentials that were refused.
  public var problems: [KeyStoreFault] = []

  private static let keyPrefix = "roost.key."
  private static let passphrasePrefix = "roost.passphrase."

  /// No credentials.
  public init() {}

  /// The account whose key a credential of this name contains; nil for other credentials.
  public static func account(ofKey name: String) -> String? {
    name.hasPrefix(keyPrefix) ? String(name.dropFirst(keyPrefix.count)) : nil
  }

  /// Reads the signer's credentials from a directory, and ignores other files. A missing directory is a problem.
  public init(directory: String) {
    guard let folder = opendir(directory) else {
      problems.append(.system(SystemFault(call: "opendir", subject: directory, code: errno)))
      return
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    for name in names.sorted().prefix(2 * KeyDirectory.fileMaximum) {
      do throws(KeyStoreFault) { try take(name, in: directory) } catch { problems.append(error) }
    }
  }

  private mutating func take(_ name: String, in directory: String) throws(KeyStoreFault) {
    let path = directory + "/" + name
    if name.hasPrefix(Self.keyPrefix) {
      let account = String(name.dropFirst(Self.keyPrefix.count))
      keys[account] = try SecretFile.read(path, isForeignOwnerAllowed: true) { text throws(SecretTextFault) in
        try SecretText(text)
      }
    } else if name.hasPrefix(Self.passphrasePrefix) {
      let account = String(name.dropFirst(Self.passphrasePrefix.count))
      passphrases[account] = try SecretFile.read(path, isForeignOwnerAllowed: true) { text throws(SecretTextFault) in
        do throws(PassphraseFault) { return try Passphrase(utf8: Self.withoutLineEnd(text)) } catch {
          throw SecretTextFault(description: error.description)
        }
      }
    }
  }

  /// Removes the line end at the end of a file: editors add it, and it is no part of the passphrase.
  private static func withoutLineEnd(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var count = text.count
    if count > 0, text[count - 1] == 0x0A { count -= 1 }
    if count > 0, text[count - 1] == 0x0D { count -= 1 }
    return UnsafeRawBufferPointer(rebasing: text[..<count])
  }
}
