public import Cryptography

// What a person has said about accounts, beside their keys: a file `choices` in the directory of the keys.
//
//     roost-choices 1
//     used <64 hexadecimal digits>            (at most once)
//     left <64 hexadecimal digits>
//     forgetting <64 hexadecimal digits>      (left, and to be forgotten)
//     end                                     (a file without it is cut off)
//
// Accounts are named by their public keys, so a renamed key file changes nothing. A file that is damaged or missing
// means that no account is used and none is left: a choice that is lost is noticed and made again, while a choice that
// was guessed might act as the wrong account.

/// Which account is meant where several are, and which are left.
public struct AccountChoices: Hashable, Sendable {
  /// The account that is meant where none is named.
  public var used: PublicKey?
  /// Accounts that are left; true: to be forgotten.
  public var left: [PublicKey: Bool] = [:]

  /// Largest file that is read, in bytes: more than what all accounts need.
  static let byteCountMaximum = 65_536
  private static let head = "roost-choices 1"
  private static let end = "end"

  /// No choices.
  public init() {}

  /// Reads a file's contents; nil if they are damaged.
  public init?(contents: some Sequence<UInt8>) {
    let text = String(decoding: Array(contents), as: UTF8.self)
    guard text.hasSuffix("\n") else { return nil }
    var lines = text.split(separator: "\n")[...]
    guard lines.popFirst() == Self.head[...], lines.popLast() == Self.end[...] else { return nil }
    for line in lines {
      let words = line.split(separator: " ")
      guard words.count == 2, let key = PublicKey(String(words[1])) else { return nil }
      switch words[0] {
      case "used" where used == nil: used = key
      case "left" where left[key] == nil: left[key] = false
      case "forgetting" where left[key] == nil: left[key] = true
      default: return nil
      }
    }
  }

  /// The file's contents.
  public var contents: [UInt8] {
    var lines = [Self.head]
    if let used { lines.append("used \(used)") }
    lines += left.map { key, isForgetting in "\(isForgetting ? "forgetting" : "left") \(key)" }.sorted()
    lines.append(Self.end)
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  /// The account is removed: nothing is said about it from now on.
  public mutating func forget(_ key: PublicKey) {
    left[key] = nil
    if used == key { used = nil }
  }
}
