internal import Cryptography

// A sealed backup: the same archive, encrypted in messages of 64 KiB (`SecretStream`), of which the last may be
// shorter. The key comes from a passphrase by scrypt.
//
//     0 "roost-sealed-1\n" 15 │ 15 logN 1 │ 16 salt 16 │ 32 header of the stream 24 │ 56 messages, 65,553 bytes each

/// How a backup is sealed.
enum SealedForm {
  static let magic = Array("roost-sealed-1\n".utf8)
  static let headByteCount = 56
  /// The bytes of a message before they are sealed.
  static let messageByteCount = 64 << 10
  /// 256 MiB and about a second for each guess.
  static let logN: UInt8 = 18
  /// What a foreign file may cost: 1 GiB.
  static let logNMaximum: UInt8 = 20

  /// Whether bytes are the beginning of a sealed backup.
  static func begins(_ bytes: ArraySlice<UInt8>) -> Bool { bytes.starts(with: magic) }

  /// The key of a passphrase.
  static func key(_ passphrase: Passphrase, salt: [UInt8], logN: UInt8) throws(BackupFault) -> SecretMemory {
    let key = passphrase.withBytes { passphrase in
      salt.withUnsafeBytes { Scrypt.derive(passphrase: passphrase, salt: $0, logN: Int(logN)) }
    }
    guard let key else {
      throw BackupFault(
        .system,
        "a passphrase costs \(Scrypt.memoryByteCount(logN: Int(logN)) >> 20) MiB of memory: there is not so much")
    }
    return key
  }

  /// The head of a new sealed backup, with the stream that follows.
  static func begin(
    _ passphrase: Passphrase, logN: UInt8
  ) throws(BackupFault) -> (head: [UInt8], stream: SecretStream) {
    let salt = RandomBytes.make(16)
    let key = try key(passphrase, salt: salt, logN: logN)
    let stream = key.withBytes { SecretStream(key: $0) }
    return (magic + [logN] + salt + stream.header, stream)
  }

  /// The stream after a head of 56 bytes.
  static func open(_ head: [UInt8], _ passphrase: Passphrase) throws(BackupFault) -> SecretStream {
    guard head.count == headByteCount, begins(head[...]), (1...logNMaximum).contains(head[15]) else {
      throw BackupReading.incomplete
    }
    let key = try key(passphrase, salt: Array(head[16..<32]), logN: head[15])
    let header = Array(head[32...])
    return key.withBytes { SecretStream(key: $0, header: header) }
  }
}
