internal import CUtf8proc

// Different keyboards send different characters for the same letters: é may come as one character or as e and an
// accent, ﬁ as one or two. A key derived from the bytes would open on one machine but not on another. So passphrases
// are first brought into Unicode's form NFKC, as NIP-49 requires.
//
// Swift's standard library has only NFC, and not as public API; Foundation has NFKC, but doubles the size of a small
// process. utf8proc is a table and two functions, which work in memory that we provide: the passphrase is in locked
// memory only.

/// Why a text cannot be a passphrase. Reveals nothing of the text.
public enum PassphraseFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// More bytes than are accepted.
  case tooLong(byteCount: Int, maximum: Int)
  /// Passphrases have used up the locked memory reserved for them; some hundred fit, or a few of the longest.
  case noRoom
  /// Not UTF-8, so the intended characters are unknown.
  case notUTF8

  /// The end of a sentence: `the passphrase is not UTF-8`.
  public var description: String {
    switch self {
    case .tooLong(let count, let maximum): "the passphrase has \(count) bytes, and at most \(maximum) are taken"
    case .noRoom: "there is no locked memory left for one more passphrase; give fewer or shorter ones at a time"
    case .notUTF8: "the passphrase is not UTF-8; is the terminal set to another encoding?"
    }
  }
}

/// A passphrase in Unicode's form NFKC, in ``SecretMemory``. Its description reveals nothing, not even its length.
public struct Passphrase: Sendable, CustomStringConvertible, CustomReflectable {
  /// Longer than the text, since the text may be empty.
  private let memory: SecretMemory
  private let byteCount: Int

  /// The most bytes of UTF-8 that are accepted. NFKC may make them 24 times as many, which still fits into a secret.
  public static let byteCountMaximum = 1_024

  /// Reads and normalizes a passphrase. The caller wipes `text`.
  ///
  /// Characters newer than utf8proc's version of Unicode stay unchanged.
  ///
  /// - Parameter text: UTF-8, without the end of the line; may be empty.
  public init(utf8 text: UnsafeRawBufferPointer) throws(PassphraseFault) {
    guard text.count <= Self.byteCountMaximum else {
      throw .tooLong(byteCount: text.count, maximum: Self.byteCountMaximum)
    }
    let bytes = text.bindMemory(to: UInt8.self)
    let count = utf8proc_decompose(bytes.baseAddress, bytes.count, nil, 0, Self.form)
    guard count >= 0 else { throw .notUTF8 }
    guard SecretMemory.hasRoom(for: count * MemoryLayout<Int32>.size + 1) else { throw .noRoom }
    var byteCount = 0
    // A word for each character, and one byte for the zero that utf8proc writes after the last one.
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

  /// Lends the normalized UTF-8. It must not be copied to memory that keeps it.
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

  /// NFKC, in the form that Unicode promises never to change.
  private static let form = utf8proc_option_t(
    rawValue: UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue | UTF8PROC_COMPAT.rawValue)
}
