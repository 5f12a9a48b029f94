import Cryptography
import TestSupport
import Testing

@Suite struct HexadecimalTests {
  @Test("Bytes written as digits are read as the same bytes", arguments: seeds(20))
  func roundTrip(seed: UInt64) throws {
    var random = SystemRandomNumberGenerator()
    let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    let octets = try #require(Octets32(bytes))
    let text = octets.description
    #expect(text == bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    #expect(Octets32(text) == octets && octets.bytes == bytes)
    #expect(Hexadecimal.decode(text.utf8) == bytes)
    var appended: [UInt8] = []
    octets.appendHexadecimal(to: &appended)
    #expect(String(decoding: appended, as: UTF8.self) == text)
  }

  @Test("Each byte value at each place is a digit or is refused")
  func everyByte() {
    let plain = Array("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef".utf8)
    let digits = Set("0123456789abcdef".utf8)
    for place in 0..<64 {
      for byte in UInt8.min ... .max {
        var text = plain
        text[place] = byte
        #expect((Octets32(hexadecimal: text) != nil) == digits.contains(byte), "\(byte) at \(place)")
        #expect((Hexadecimal.decode(text) != nil) == digits.contains(byte))
      }
    }
  }

  @Test("The order is that of the bytes")
  func order() throws {
    let low = try #require(Octets32([0] + [UInt8](repeating: 255, count: 31)))
    let high = try #require(Octets32([1] + [UInt8](repeating: 0, count: 31)))
    #expect(low < high && !(high < low))
  }
}
