internal import CUtf8proc

// What a person types is not what another keyboard sends for the same letters: é may come as one character or as e and
// an accent, ﬁ as one or two. A key made from the bytes would open on one machine and not on the next. So passphrases
// are brought into Unicode's form NFKC first, as NIP-49 asks.
//
// Swift's standard library has NFC only, and not for others' use; Foundation has NFKC, and doubles a small process.
// utf8proc is a table and two functions, which work in memory that we give them: the passphrase stands nowhere but in
// locked memory.

/// Why a text cannot be a passphrase. Says nothing of the text.
public enum PassphraseFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// More bytes than are taken.
  case tooLong(byteCount: Int, maximum: Int)
  /// Passphrases have taken all the locked memory there is for them; some hundred fit, or a few of the longest.
  case noRoom
  /// Not UTF-8, so there is no telling which characters were meant.
  case notUTF8

  /// A sentence's end: `the passphrase is not UTF-8`.
  public var description: String {
    switch self {
    case .tooLong(let count, let maximum): "the passphrase has \(count) bytes, and at most \(maximum) are taken"
    case .noRoom: "there is no locked memory left for one more passphrase; give fewer or shorter ones at a time"
    case .notUTF8: "the passphrase is not UTF-8; is the terminal set to another encoding?"
    }
  }
}

/// A passphrase in Unicode's form NFKC, in ``SecretMemory``. Its description says nothing, not even how long it is.
public struct Passphrase: Sendable, CustomStringConvertible, CustomReflectable {
  /// Longer than the text, which may be empty.
  private let memory: SecretMemory
  private let byteCount: Int

  /// Most bytes of UTF-8 that are taken. In NFKC they may become 24 times as many, which still is a secret that can be
  /// held.
  public static let byteCountMaximum = 1_024

  /// Reads and normalizes a passphrase. The caller wipes `text`.
  ///
  /// Characters that came after utf8proc's Unicode are left as they are.
  ///
  /// - Parameter text: UTF-8, without the line's end; also nothing.
  public init(utf8 text: UnsafeRawBufferPointer) throws(PassphraseFault) {
    guard text.count <= Self.byteCountMaximum else {
      throw .tooLong(byteCount: text.count, maximum: Self.byteCountMaximum)
    }
    let bytes = text.bindMemory(to: UInt8.self)
    let count = utf8proc_decompose(bytes.baseAddress, bytes.count, nil, 0, Self.form)
    guard count >= 0 else { throw .notUTF8 }
    guard SecretMemory.hasRoom(for: count * MemoryLayout<Int32>.size + 1) else { throw .noRoom }
    var byteCount = 0
    // A word for each character, and a byte for the zero that utf8proc writes after the last.
    memory = SecretMemory(byteCount: count * MemoryLayout<Int32>.size + 1) { memory in
      let characters = memory.baseAddress?.assumingMemoryBound(to: Int32.self)
      guard utf8proc_decompose(bytes.baseAddress, bytes.count, characters, count, Self.form) == count else {
        preconditionFailure("a text has the same characters twice")
      }
      byteCount = utf8proc_reencode(characters, count, Self.form)
    }
    precondition(byteCount >= 0, "characters that were read can be written")
    self.byteCount = byteCount
  }

  /// Lends the normalized UTF-8. It must not be copied to where it would stay.
  public func withBytes<Value, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try memory.withBytes { bytes throws(Failure) in
      try body(UnsafeRawBufferPointer(rebasing: bytes[..<byteCount]))
    }
  }

  /// `a passphrase`
  public var description: String { "a passphrase" }

  /// Nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// NFKC, as Unicode promises never to change it.
  private static let form = utf8proc_option_t(
    rawValue: UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue | UTF8PROC_COMPAT.rawValue)
}
