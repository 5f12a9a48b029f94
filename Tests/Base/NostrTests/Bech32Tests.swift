import FoundationEssentials
import Nostr
import TestSupport
import Testing

/// A file of `shared/vectors`, its names without underscores; nil where the folder is not there.
func sharedVectors<Value: Decodable>(_ type: Value.Type, _ path: String) throws -> Value? {
  guard let lines = SharedFolder.lines(of: "vectors/" + path) else { return nil }
  return try sharedRow(type, Array(lines.joined(separator: [10])))
}

/// One JSON value, its names without underscores: for files that have one in each line.
func sharedRow<Value: Decodable>(_ type: Value.Type, _ json: [UInt8]) throws -> Value {
  let decoder = JSONDecoder()
  decoder.keyDecodingStrategy = .convertFromSnakeCase
  return try decoder.decode(type, from: json.data)
}

@Suite struct Bech32Tests {
  /// The cases of BIP-173 that are refused, and one of each other reason.
  @Test(
    "What is no Bech32 is refused for its reason",
    arguments: [
      ("\u{20}1nwldj5", Bech32Fault.badCharacter(at: 0)), ("\u{7F}1axkwrx", .badCharacter(at: 0)),
      ("pzry9x0s0muk", .noSeparator), ("1pzry9x0s0muk", .badPrefix), ("x1b4n0q5v", .badCharacter(at: 2)),
      ("li1dgmt3", .tooShort), ("A1G7SGD8", .badChecksum), ("10a06t8", .badPrefix), ("1qzzfhee", .badPrefix),
      ("A12uEL5L", .mixedCase), ("a12uel5m", .badChecksum), ("npub1é2uel5m", .badCharacter(at: 5)), ("", .noSeparator),
      ("a1qpamnt9j", .badPadding), ("a1qqqd87cpp", .badPadding),
      (String(repeating: "q", count: 91), .tooLong(count: 91, maximum: 90)),
    ])
  func refused(text: String, fault: Bech32Fault) {
    #expect(throws: fault) { try Bech32.decode(text, maximumCount: 90) }
    #expect(!fault.description.isEmpty)
  }

  @Test("The texts of BIP-173 are read, in lower case", arguments: ["A12UEL5L", "a12uel5l", "?1ezyfcl"])
  func valid(text: String) throws {
    let (hrp, data) = try Bech32.decode(text, maximumCount: 90)
    #expect(data.isEmpty && hrp == String(text.prefix(1)).lowercased())
    #expect(Bech32.encode(hrp: hrp, data: data) == text.lowercased())
  }

  @Test("Every case of the BIP's list is read or refused as it says")
  func vectors() throws {
    struct Vectors: Decodable {
      let validBech32: [String]
      let invalidBech32: [Invalid]
    }
    struct Invalid: Decodable { let prefixByte: String?, text: String, suffixByte: String? }
    guard let vectors = try sharedVectors(Vectors.self, "nip19/bip173-bech32.json") else { return }
    for text in vectors.validBech32 {
      let (hrp, data) = try Bech32.decode(text, maximumCount: 90)
      #expect(Bech32.encode(hrp: hrp, data: data) == text.lowercased())
    }
    for invalid in vectors.invalidBech32 {
      let ends = [invalid.prefixByte, invalid.suffixByte].map {
        $0.flatMap { UInt8($0, radix: 16) }.map { [$0] } ?? []
      }
      let bytes = ends[0] + Array(invalid.text.utf8) + ends[1]
      var data = [UInt8](repeating: 0, count: 90)
      #expect(throws: Bech32Fault.self, "\(invalid.text)") {
        try bytes.withUnsafeBytes { bytes in
          try data.withUnsafeMutableBytes { _ = try Bech32.decode(bytes, maximumCount: 90, into: $0) }
        }
      }
    }
  }

  @Test("What is written is read again, and a changed character is noticed", arguments: seeds(4))
  func roundTrip(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l")
    for _ in 0..<500 {
      let data = (0..<generator.below(70)).map { _ in UInt8(generator.below(256)) }
      let hrp = String(["npub", "nprofile", "a1b", "!~"].randomElement(using: &generator)!)
      let text = Bech32.encode(hrp: hrp, data: data)
      for written in [text, text.uppercased()] {
        let read = try Bech32.decode(written, maximumCount: 200)
        #expect(read.hrp == hrp && read.data == data)
      }
      var changed = Array(text)
      let place = hrp.count + 1 + generator.below(changed.count - hrp.count - 1)
      changed[place] = alphabet[(alphabet.firstIndex(of: changed[place])! + 1 + generator.below(31)) % 32]
      #expect(throws: Bech32Fault.badChecksum) { try Bech32.decode(String(changed), maximumCount: 200) }
    }
  }

  @Test("A buffer that is too small is not overrun")
  func smallBuffer() {
    let text = Array(Bech32.encode(hrp: "x", data: Array(1...33)).utf8)
    var data = [UInt8](repeating: 0, count: 32)
    #expect(throws: Bech32Fault.tooMuchData(maximumByteCount: 32)) {
      try text.withUnsafeBytes { text in
        try data.withUnsafeMutableBytes { _ = try Bech32.decode(text, maximumCount: 90, into: $0) }
      }
    }
  }
}

extension [UInt8] {
  var data: Data { Data(self) }
}
