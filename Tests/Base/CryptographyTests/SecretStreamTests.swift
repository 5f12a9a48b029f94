import Cryptography
import Testing

@Suite("An encrypted stream")
struct SecretStreamTests {
  private static let key = [UInt8](0..<32)

  private static func writer() -> SecretStream { key.withUnsafeBytes { SecretStream(key: $0) } }

  private static func reader(_ header: [UInt8]) -> SecretStream {
    key.withUnsafeBytes { SecretStream(key: $0, header: header) }
  }

  @Test("gives back what was written, and says which message is the last; messages may be empty")
  func roundTrip() throws {
    let writer = Self.writer()
    let messages: [[UInt8]] = [[1, 2, 3], [], [UInt8](repeating: 7, count: 65_536), [9]]
    let sealed = messages.indices.map { writer.seal(messages[$0][...], isLast: $0 == 3) }
    #expect(zip(sealed, messages).allSatisfy { $0.count == $1.count + SecretStream.addedByteCount })
    let reader = Self.reader(writer.header)
    for index in messages.indices {
      let opened = try #require(reader.open(sealed[index][...]))
      #expect(opened.message == messages[index] && opened.isLast == (index == 3))
    }
  }

  @Test("does not open a message that was changed, left out, repeated or cut, nor one under another key")
  func changed() throws {
    let writer = Self.writer()
    let sealed = [writer.seal([1, 2, 3], isLast: false), writer.seal([4, 5, 6], isLast: true)]
    for bit in 0..<(sealed[0].count * 8) {
      var bytes = sealed[0]
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(Self.reader(writer.header).open(bytes[...]) == nil, "\(bit)")
    }
    #expect(Self.reader(writer.header).open(sealed[1][...]) == nil)
    #expect(Self.reader(writer.header).open(sealed[0].dropLast()) == nil)
    #expect(Self.reader(writer.header).open([]) == nil)
    let reader = Self.reader(writer.header)
    #expect(reader.open(sealed[0][...]) != nil)
    #expect(reader.open(sealed[0][...]) == nil)
    // What cannot be opened changes nothing.
    #expect(reader.open(sealed[1][...])?.isLast == true)
    let other = [UInt8](1..<33).withUnsafeBytes { SecretStream(key: $0, header: writer.header) }
    #expect(other.open(sealed[0][...]) == nil)
  }

  @Test("that was cut off is continued by the reader of what is there")
  func continued() throws {
    let writer = Self.writer()
    let first = writer.seal([1], isLast: false)
    let middle = Self.reader(writer.header)
    #expect(middle.open(first[...]) != nil)
    let second = middle.seal([2], isLast: true)
    let reader = Self.reader(writer.header)
    #expect(reader.open(first[...])?.message == [1])
    let last = try #require(reader.open(second[...]))
    #expect(last.message == [2] && last.isLast)
  }
}
