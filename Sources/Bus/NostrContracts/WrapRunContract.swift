internal import Contracts
public import Cryptography
public import Nostr

// `signer.open`: a run of gift wraps of one account, each with an outcome of its own. For a worker that reads an inbox
// of many thousands: `signer.unwrap` takes one at a time, as JSON within JSON.
//
// The request, RAW:
//
//    0  32 bytes  the account's public key
//   32  u32       count: how many wraps, ``WrapRun/countMaximum`` at most
//   36            count records:
//                   0  u32  byteCount
//                   4       byteCount bytes: a gift wrap as JSON, as it arrived
//
// The answer, RAW:
//
//    0  u32  count: as many as wraps, in their order
//    4       count records:
//              0  u8   0: opened; else refused, ``WrapRefusal/Code``
//              1  u8   3 × 0
//              4  u32  byteCount
//              8       opened:  32 bytes author, 32 bytes id, byteCount bytes: the rumor as JSON
//                      refused: byteCount bytes: why, UTF-8
//
// All numbers are little-endian. The count in front makes every truncation visible, also one between two records. A
// frame bounds the whole: an answer has fewer bytes than its run, because a wrap is Base64 within Base64 of its rumor,
// and 256 reasons fit into the smallest frame. An account that is locked or unknown refuses the whole run, with the
// refusals of every other use of a key; then no wrap is looked at.
//
// Rejected: a flag `isVerified` for a wrap whose signature the store has checked. The signer looks at no wrap's
// signature: `UnverifiedWrap` says why nothing less is proven.

/// A run of gift wraps to open, all of one account.
public struct WrapRun: Sendable, Hashable {
  /// The recipient, an account of the signer.
  public var account: PublicKey
  /// The wraps, each the JSON of an event of kind 1059 or 21059, as it arrived.
  public var wraps: [[UInt8]]

  /// The maximum number of wraps of a run.
  public static let countMaximum = 256
  /// The bytes before the first record.
  public static let headerByteCount = 36
  /// The bytes of a record beside the wrap: a caller adds them up to stay below the frame limit.
  public static let recordHeaderByteCount = 4

  /// Why a run or its outcomes cannot be read.
  public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The offset in bytes.
    public let offset: Int
    /// What is wrong.
    public let reason: String
    /// The end of a sentence.
    public var description: String { "at byte \(offset) \(reason)" }
  }

  /// A run of at most ``countMaximum`` wraps; more is a mistake of the caller.
  public init(account: PublicKey, wraps: [[UInt8]]) {
    precondition(wraps.count <= Self.countMaximum, "a run has \(Self.countMaximum) wraps at most")
    self.account = account
    self.wraps = wraps
  }

  /// The bytes of the run.
  public func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(wraps.reduce(Self.headerByteCount) { $0 + Self.recordHeaderByteCount + $1.count })
    bytes.append(contentsOf: account.octets.bytes)
    LittleEndian.append(UInt64(wraps.count), 4, to: &bytes)
    for wrap in wraps {
      LittleEndian.append(UInt64(wrap.count), 4, to: &bytes)
      bytes.append(contentsOf: wrap)
    }
    return bytes
  }

  /// Reads a run. The wraps are not looked at.
  ///
  /// - Throws: when it is cut anywhere, has too many wraps, or has bytes after the last one.
  public static func decode(_ bytes: [UInt8]) throws(Problem) -> WrapRun {
    guard bytes.count >= headerByteCount, let octets = Octets32(bytes[..<Octets32.byteCount]) else {
      throw Problem(offset: bytes.count, reason: "the run ends in its header")
    }
    let count = Int(LittleEndian.number(bytes, Octets32.byteCount, 4))
    guard count <= countMaximum else {
      throw Problem(
        offset: Octets32.byteCount, reason: "the run says it has \(count) wraps, and \(countMaximum) are the most")
    }
    var wraps: [[UInt8]] = []
    wraps.reserveCapacity(count)
    var offset = headerByteCount
    for _ in 0..<count {
      let body = try Self.body(of: bytes, offset, header: recordHeaderByteCount, fixed: 0, countAt: 0)
      wraps.append(Array(bytes[body]))
      offset = body.upperBound
    }
    guard offset == bytes.count else { throw Problem(offset: offset, reason: "bytes follow the last wrap of the run") }
    return WrapRun(account: PublicKey(octets), wraps: wraps)
  }

  /// The place of a record's bytes behind its header and a part of fixed size.
  fileprivate static func body(
    of bytes: [UInt8], _ offset: Int, header: Int, fixed: Int, countAt: Int
  ) throws(Problem) -> Range<Int> {
    guard header <= bytes.count - offset else { throw Problem(offset: offset, reason: "a record ends in its header") }
    let count = Int(LittleEndian.number(bytes, offset + countAt, 4))
    let start = offset + header
    guard fixed <= bytes.count - start, count <= bytes.count - start - fixed else {
      throw Problem(
        offset: offset, reason: "a record says it has \(fixed + count) bytes, and \(bytes.count - start) follow")
    }
    return start + fixed..<start + fixed + count
  }
}

/// What was in a gift wrap.
public struct OpenedWrap: Sendable, Hashable {
  /// The author, proven by the seal's signature; the rumor says the same.
  public var author: PublicKey
  /// The rumor's id, computed from its contents: the same in every copy, for every recipient.
  public var id: EventID
  /// The rumor as JSON: NIP-01's keys in their order, with `id` and without `sig`, strings in canonical form.
  public var rumor: [UInt8]

  /// An opened wrap.
  public init(author: PublicKey, id: EventID, rumor: [UInt8]) {
    self.author = author
    self.id = id
    self.rumor = rumor
  }
}

/// Why a gift wrap was not opened. The same wrap is refused again, whenever it comes.
public struct WrapRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable code.
  public enum Code: UInt8, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// The wrap is no event (NIP-01).
    case malformed = 1
    /// The event is of another kind than 1059 and 21059.
    case notAGiftWrap = 2
    /// The content of wrap or seal has more than 256 KiB: it was not decrypted.
    case tooLarge = 3
    /// No `p` tag of the wrap names the account.
    case notForThisAccount = 4
    /// The content of wrap or seal does not decrypt with the account's key.
    case undecryptable = 5
    /// The wrap holds no event of kind 13, or one with tags other than `expiration`.
    case notASeal = 6
    /// The seal's id or signature is wrong: its author did not write it.
    case forgedSeal = 7
    /// The seal holds no event, or one with a wrong id.
    case malformedRumor = 8
    /// The rumor names another author than the seal's: an impersonation.
    case wrongAuthor = 9

    /// As in a log: `forged-seal`.
    public var description: String {
      switch self {
      case .malformed: "malformed"
      case .notAGiftWrap: "not-a-gift-wrap"
      case .tooLarge: "too-large"
      case .notForThisAccount: "not-for-this-account"
      case .undecryptable: "undecryptable"
      case .notASeal: "not-a-seal"
      case .forgedSeal: "forged-seal"
      case .malformedRumor: "malformed-rumor"
      case .wrongAuthor: "wrong-author"
      }
    }
  }

  /// Why, for programs.
  public var code: Code
  /// Why, as the end of a sentence; at most ``reasonByteCountMaximum`` bytes. It reveals nothing of keys and contents.
  public var reason: String

  /// The maximum number of bytes of a reason; a longer one is cut.
  public static let reasonByteCountMaximum = 200

  /// `forged-seal: the signature is wrong`
  public var description: String { "\(code): \(reason)" }

  /// A refusal.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    guard reason.utf8.count > Self.reasonByteCountMaximum else {
      self.reason = reason
      return
    }
    var short = ""
    var byteCount = 0
    for scalar in reason.unicodeScalars {
      byteCount += UTF8.width(scalar)
      guard byteCount <= Self.reasonByteCountMaximum else { break }
      short.unicodeScalars.append(scalar)
    }
    self.reason = short
  }
}

/// The outcome of one gift wrap of a run.
public enum WrapOutcome: Sendable, Hashable {
  /// It is opened, and every check of NIP-59 holds.
  case opened(OpenedWrap)
  /// It is not; nothing of it may be shown.
  case refused(WrapRefusal)
}

/// The outcomes of a run, in the order of its wraps.
public struct WrapOutcomes: Sendable, Hashable {
  /// The outcomes.
  public var list: [WrapOutcome]

  private static let headerByteCount = 4
  private static let recordHeaderByteCount = 8
  private static let keysByteCount = 2 * Octets32.byteCount

  /// Outcomes of at most ``WrapRun/countMaximum`` wraps.
  public init(_ list: [WrapOutcome]) { self.list = list }

  /// The bytes of the outcomes.
  public func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    let size = list.reduce(0) { size, outcome in
      switch outcome {
      case .opened(let wrap): size + Self.keysByteCount + wrap.rumor.count
      case .refused(let refusal): size + refusal.reason.utf8.count
      }
    }
    bytes.reserveCapacity(Self.headerByteCount + size + list.count * Self.recordHeaderByteCount)
    LittleEndian.append(UInt64(list.count), 4, to: &bytes)
    for outcome in list {
      switch outcome {
      case .opened(let wrap):
        LittleEndian.append(0, 4, to: &bytes)
        LittleEndian.append(UInt64(wrap.rumor.count), 4, to: &bytes)
        bytes.append(contentsOf: wrap.author.octets.bytes)
        bytes.append(contentsOf: wrap.id.octets.bytes)
        bytes.append(contentsOf: wrap.rumor)
      case .refused(let refusal):
        LittleEndian.append(UInt64(refusal.code.rawValue), 4, to: &bytes)
        LittleEndian.append(UInt64(refusal.reason.utf8.count), 4, to: &bytes)
        bytes.append(contentsOf: refusal.reason.utf8)
      }
    }
    return bytes
  }

  /// Reads outcomes.
  ///
  /// - Throws: when they are cut anywhere, or have an unknown code, a reason that is no text, or bytes after the last
  ///   one.
  public static func decode(_ bytes: [UInt8]) throws(WrapRun.Problem) -> WrapOutcomes {
    guard bytes.count >= headerByteCount else {
      throw WrapRun.Problem(offset: bytes.count, reason: "the outcomes end in their header")
    }
    let count = Int(LittleEndian.number(bytes, 0, 4))
    guard count <= WrapRun.countMaximum else {
      throw WrapRun.Problem(
        offset: 0, reason: "there are said to be \(count) outcomes, and \(WrapRun.countMaximum) are the most")
    }
    var list: [WrapOutcome] = []
    list.reserveCapacity(count)
    var offset = headerByteCount
    for _ in 0..<count {
      let (outcome, end) = try Self.outcome(bytes, offset)
      list.append(outcome)
      offset = end
    }
    guard offset == bytes.count else {
      throw WrapRun.Problem(offset: offset, reason: "bytes follow the last outcome")
    }
    return WrapOutcomes(list)
  }

  private static func outcome(
    _ bytes: [UInt8], _ offset: Int
  ) throws(WrapRun.Problem) -> (outcome: WrapOutcome, end: Int) {
    let isOpened = offset < bytes.count && bytes[offset] == 0
    let body = try WrapRun.body(
      of: bytes, offset, header: recordHeaderByteCount, fixed: isOpened ? keysByteCount : 0, countAt: 4)
    guard LittleEndian.number(bytes, offset + 1, 3) == 0 else {
      throw WrapRun.Problem(offset: offset, reason: "a record is of a later layout")
    }
    if isOpened {
      let keys = offset + recordHeaderByteCount
      let middle = keys + Octets32.byteCount
      if let author = Octets32(bytes[keys..<middle]), let id = Octets32(bytes[middle..<body.lowerBound]) {
        let wrap = OpenedWrap(author: PublicKey(author), id: EventID(id), rumor: Array(bytes[body]))
        return (.opened(wrap), body.upperBound)
      }
    }
    guard let code = WrapRefusal.Code(rawValue: bytes[offset]) else {
      throw WrapRun.Problem(offset: offset, reason: "a record has no known outcome")
    }
    guard body.count <= WrapRefusal.reasonByteCountMaximum,
      let reason = String(validating: bytes[body], as: UTF8.self)
    else { throw WrapRun.Problem(offset: offset, reason: "a record has a reason that is too long or not UTF-8") }
    return (.refused(WrapRefusal(code, reason)), body.upperBound)
  }
}
