import Clocks
import Cryptography
import Nostr

/// Events as strange as NIP-01 allows, written in the strangest JSON that means the same.
struct EventGenerator {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func next() -> UInt64 { random.next() }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

  private mutating func hexadecimal(_ count: Int) -> String {
    String((0..<count).map { _ in "0123456789abcdef".randomElement(using: &self)! })
  }

  /// The JSON of an event; its id and signature are made up.
  mutating func json() -> [UInt8] {
    var members = [
      "\(key("id")):\"\(hexadecimal(64))\"", "\(key("pubkey")):\"\(hexadecimal(64))\"",
      "\(key("created_at")):\(oneIn(9) ? Int64(next() >> 1) : Int64(below(2_000_000_000)))",
      "\(key("kind")):\(below(65_536))", "\(key("tags")):\(tags())", "\(key("content")):\(string(below(40)))",
      "\(key("sig")):\"\(hexadecimal(128))\"",
    ]
    if oneIn(4) { members.shuffle(using: &self) }
    if oneIn(9) { members.append("\"seen\":[1.5e3,{\"a\":null},true]") }
    return Array("\(space()){\(members.joined(separator: "\(space()),\(space())"))}\(space())".utf8)
  }

  private mutating func key(_ name: String) -> String {
    guard oneIn(60) else { return "\"\(name)\"" }
    let scalar = name.unicodeScalars.first!.value
    return "\"\\u00\(String(scalar, radix: 16))\(name.dropFirst())\""
  }

  private mutating func space() -> String { oneIn(20) ? [" ", "\n", "\t", " \r\n "][below(4)] : "" }

  private mutating func tags() -> String {
    let tags = (0..<below(6)).map { _ in
      "[" + (0...below(4)).map { _ in string(below(12)) }.joined(separator: ",\(space())") + "]"
    }
    return "[" + tags.joined(separator: ",") + "]"
  }

  private mutating func string(_ count: Int) -> String { "\"" + (0..<count).map { _ in character() }.joined() + "\"" }

  /// A character, in one of the ways JSON writes it.
  private mutating func character() -> String {
    switch below(12) {
    case 0: return ["\\n", "\\\"", "\\\\", "\\r", "\\t", "\\b", "\\f", "\\/"][below(8)]
    case 1: return escape(UInt16(below(0x20)))
    case 2:
      return ["\u{7f}", "\u{80}", "é", "\u{2028}", "\u{feff}", "\u{ffff}", "🪶", "\u{10ffff}", "e\u{301}"][below(9)]
    case 3:
      return ["\\u00e9", "\\u007f", "\\u002f", "\\u0041", "\\ud83e\\udeb6", "\\uD83E\\uDEB6", "\\u0022"][below(7)]
    default: return String(UnicodeScalar(UInt8(0x23 + below(0x39))))
    }
  }

  private mutating func escape(_ unit: UInt16) -> String {
    let digits = String(unit, radix: 16, uppercase: oneIn(2))
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}

extension EventGenerator: RandomNumberGenerator {}
