import Clocks
import Cryptography
import FoundationEssentials
import TestSupport
import Testing

@Suite struct Ed25519Tests {
  struct Vector: Decodable, Sendable {
    let secret, `public`, message, signature: String
  }

  private static let own = [
    Vector(
      secret: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      public: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
      signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555f"
        + "b8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
    Vector(
      secret: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      public: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
      signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da08"
        + "5ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
    Vector(
      secret: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      public: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", message: "af82",
      signature: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18"
        + "ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"),
  ]

  private func bytes(_ digits: some Collection<UInt8>) throws -> [UInt8] { try #require(Hexadecimal.decode(digits)) }

  private func check(_ vector: Vector) throws {
    let key = Ed25519SecretKey(seed: try #require(Octets32(vector.secret)))
    let message = try bytes(vector.message.utf8)
    #expect(key.publicKey.octets == Octets32(vector.public))
    let signature = key.sign(message)
    #expect(Hexadecimal.text(of: signature) == vector.signature)
    #expect(key.publicKey.isValid(signature, of: message))
    #expect(!key.publicKey.isValid(signature, of: message + [0]))
  }

  @Test("The vectors of RFC 8032 are signed and verified")
  func rfc8032() throws {
    struct File: Decodable { let vectors: [Vector] }
    var vectors = Self.own
    if let lines = SharedFolder.lines(of: "vectors/ed25519/rfc8032.json") {
      vectors += try JSONDecoder().decode(File.self, from: Data(Array(lines.joined(separator: [10])))).vectors
    }
    for vector in vectors { try check(vector) }
  }

  @Test("Bernstein's 1,024 vectors are signed and verified")
  func signInput() throws {
    for line in SharedFolder.lines(of: "vectors/ed25519/sign.input.txt") ?? [] {
      let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
      try check(
        Vector(
          secret: String(fields[0].prefix(64)), public: fields[1], message: fields[2],
          signature: String(fields[3].prefix(128))))
    }
  }

  private struct Group: Decodable {
    let publicKey: Key
    let tests: [Case]
    struct Key: Decodable { let pk: Octets }
    struct Case: Decodable {
      let tcId: Int
      let msg, sig: Octets
      let result: String
    }
  }

  @Test("Every case of Wycheproof is valid or not as it says")
  func wycheproof() throws {
    for group in try Wycheproof<Group>.groups("wycheproof_ed25519_test.json", in: "ed25519") {
      let key = try #require(Octets32(group.publicKey.pk.bytes).flatMap { Ed25519PublicKey($0) })
      for test in group.tests {
        #expect(key.isValid(test.sig.bytes, of: test.msg.bytes) == (test.result == "valid"), "case \(test.tcId)")
      }
    }
  }

  @Test("Of the twelve cases that libraries disagree about, the one that all strict readers take is valid")
  func specCheck() throws {
    for test in SpecCheck.all {
      let key = Ed25519PublicKey(try #require(Octets32(test.publicKey)))
      let isValid = try key?.isValid(bytes(test.signature.utf8), of: bytes(test.message.utf8)) ?? false
      #expect(isValid == test.isValid, "\(test.why)")
    }
    struct Row: Decodable { let message, pubKey, signature: String }
    guard let lines = SharedFolder.lines(of: "vectors/ed25519/edge-cases.json") else { return }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let rows = try decoder.decode([Row].self, from: Data(Array(lines.joined(separator: [10]))))
    #expect(rows.map(\.signature) == SpecCheck.all.map(\.signature))
    #expect(rows.map(\.pubKey) == SpecCheck.all.map(\.publicKey))
    #expect(rows.map(\.message) == SpecCheck.all.map(\.message))
  }

  /// y of the points of small order, and what else stands for them: y + p where that has 255 bits.
  static let unsound = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  ]

  @Test("A point of small order is no key and no R, in any of its spellings", arguments: unsound, [UInt8(0), 0x80])
  func smallOrder(point: String, sign: UInt8) throws {
    var point = try bytes(point.utf8)
    point[31] |= sign
    #expect(Ed25519PublicKey(try #require(Octets32(point))) == nil)
    let key = Ed25519SecretKey.generate()
    let signature = key.sign([1])
    #expect(!key.publicKey.isValid(point + signature[32...], of: [1]))
  }

  @Test("A y that is not reduced is no key", arguments: UInt8(0xED)...0xFF)
  func notReduced(lowest: UInt8) throws {
    for top: UInt8 in [0x7F, 0xFF] {
      let point = [lowest] + [UInt8](repeating: 0xFF, count: 30) + [top]
      #expect(Ed25519PublicKey(try #require(Octets32(point))) == nil)
    }
    // The largest that is, but for -1.
    let largest = [UInt8(0xEB)] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
    #expect(Ed25519PublicKey(try #require(Octets32(largest))) != nil)
  }

  @Test("A key without a point has no valid signature")
  func noPoint() throws {
    // y = 2: (y² - 1) / (d y² + 1) is no square.
    let two = try #require(Octets32([2] + [UInt8](repeating: 0, count: 31)))
    let key = try #require(Ed25519PublicKey(two))
    #expect(!key.isValid(Ed25519SecretKey.generate().sign([1]), of: [1]))
  }

  @Test("The same S plus the group's order is refused, and so is every count but 64", arguments: seeds(4))
  func malleable(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let key = Ed25519SecretKey(
      seed: try #require(Octets32((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })))
    let message = (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    let signature = key.sign(message)
    #expect(signature.count == Ed25519PublicKey.signatureByteCount && key.sign(message) == signature)
    #expect(key.publicKey.isValid(signature, of: message))
    let order = try bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010".utf8)
    var carry = 0
    var more = signature
    for index in 0..<32 {
      carry += Int(signature[32 + index]) + Int(order[index])
      more[32 + index] = UInt8(carry & 255)
      carry >>= 8
    }
    #expect(!key.publicKey.isValid(more, of: message))
    #expect(!key.publicKey.isValid(Array(signature[..<32]) + order, of: message))
    for count in [0, 1, 63] { #expect(!key.publicKey.isValid(Array(signature.prefix(count)), of: message)) }
    #expect(!key.publicKey.isValid(signature + [0], of: message))
    var changed = signature
    let bit = Int.random(in: 0..<512, using: &random)
    changed[bit / 8] ^= 1 << UInt8(bit % 8)
    #expect(!key.publicKey.isValid(changed, of: message), "bit \(bit)")
    #expect(!Ed25519SecretKey.generate().publicKey.isValid(signature, of: message))
  }

  @Test("One key signs and verifies for many tasks at once")
  func concurrent() async {
    let key = Ed25519SecretKey.generate()
    await withTaskGroup(of: Bool.self) { group in
      for number in UInt8(0)..<8 {
        group.addTask { (0..<20).allSatisfy { key.publicKey.isValid(key.sign([number, $0]), of: [number, $0]) } }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}
