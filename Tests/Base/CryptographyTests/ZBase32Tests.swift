import Clocks
import Cryptography
import FoundationEssentials
import TestSupport
import Testing

@Suite struct ZBase32Tests {
  private static let letters = Array("ybndrfg8ejkmcpqxot1uwisza345h769")

  @Test(
    "Known keys have their names",
    arguments: [
      (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
      ),
      (
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "999999999999999999999999999999999999999999999999999o"
      ),
      (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "47pjoycnsrfmxikm95jh13y88e8qnhzu5kungjpxyepgt7a8krpy"
      ),
    ])
  func known(digits: String, text: String) throws {
    let octets = try #require(Octets32(digits))
    #expect(ZBase32.text(of: octets) == text)
    #expect(ZBase32.octets(text) == octets)
  }

  @Test("What others write is written here, as far as the bits go that 32 bytes have")
  func vectors() throws {
    struct File: Decodable { let bytes: [[String]] }
    guard let lines = SharedFolder.lines(of: "vectors/zbase32/zbase32.json") else { return }
    for pair in try JSONDecoder().decode(File.self, from: Data(Array(lines.joined(separator: [10])))).bytes {
      let bytes = try #require(Hexadecimal.decode(pair[0].utf8))
      let octets = try #require(Octets32(bytes + [UInt8](repeating: 0, count: 32 - bytes.count)))
      #expect(ZBase32.text(of: octets).hasPrefix(pair[1]), "\(pair)")
    }
  }

  @Test("Any 32 bytes are read as they were written, and what differs in a letter is others", arguments: seeds(8))
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let octets = try #require(Octets32((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }))
    let text = ZBase32.text(of: octets)
    #expect(text.count == ZBase32.characterCount && ZBase32.octets(text) == octets)
    #expect(ZBase32.octets(Substring(text)) == octets)
    for place in 0..<51 {
      var letters = Array(text)
      letters[place] = try #require(Self.letters.filter { $0 != letters[place] }.randomElement(using: &random))
      let other = try #require(ZBase32.octets(String(letters)))
      #expect(other != octets && ZBase32.text(of: other) == String(letters))
    }
  }

  @Test("Of the 32 letters at the end two are taken: the other 30 are aliases")
  func aliases() {
    let body = String(repeating: "d", count: 51)
    #expect(Self.letters.filter { ZBase32.octets("\(body)\($0)") != nil } == ["y", "o"])
  }

  @Test("Every byte that is no letter is refused, upper case too, at every place")
  func noLetters() {
    for byte in UInt8(0)..<128 where !Self.letters.contains(Character(UnicodeScalar(byte))) {
      for place in [0, 25, 51] {
        var text = [UInt8](repeating: UInt8(ascii: "y"), count: 52)
        text[place] = byte
        #expect(ZBase32.octets(String(decoding: text, as: UTF8.self)) == nil, "\(byte)")
      }
    }
  }

  @Test("Another count than 52 is refused, and so are 52 bytes that are fewer characters")
  func counts() {
    for count in [0, 1, 51, 53, 104] { #expect(ZBase32.octets(String(repeating: "y", count: count)) == nil) }
    #expect(ZBase32.octets(String(repeating: "é", count: 26)) == nil)
    #expect(ZBase32.octets(String(repeating: "y", count: 51) + "\n") == nil)
  }
}
