import Contracts
import Cryptography
import Frames
import Nostr
import Profiles
import Testing

/// What is held in memory, and in which form.
@Suite("Profiles in memory")
struct ProfileMemoryTests {
  private let secret = SecretKey.generate()

  private func event(_ content: String, at createdAt: Int64 = 100, by author: SecretKey? = nil) -> Event {
    let author = author ?? secret
    return UnsignedEvent(pubkey: author.publicKey, createdAt: createdAt, kind: 0, tags: [], content: content)
      .signed(by: author)
  }

  private func sent(
    _ profile: StoredProfile, askedAt: Int64? = nil, claim: ClaimVerdict? = nil
  ) throws -> KnownProfile {
    var json: [UInt8] = []
    profile.append(secret.publicKey, askedAt: askedAt, claim: claim, to: &json)
    return try JSONPayload.decode(KnownProfile.self, from: json)
  }

  @Test("A profile is sent with all its fields, when relays were asked, and what the name's server said")
  func fields() throws {
    let profile = StoredProfile(
      event(
        #"{"name":"bob","display_name":"Bob B.","about":"a \"b\"\n","picture":"https://p","banner":"https://b","#
          + #""website":"https://w","nip05":"BOB@example.com","lud16":"b@l.example","bot":true}"#))
    let known = try sent(profile, askedAt: 7, claim: .another)
    #expect(known.pubkey == "\(secret.publicKey)" && known.state == .known && known.shownName == "Bob B.")
    #expect(known.name == "bob" && known.displayName == "Bob B." && known.about == "a \"b\"")
    #expect(known.picture == "https://p" && known.banner == "https://b" && known.website == "https://w")
    #expect(known.nip05 == "BOB@example.com" && known.lud16 == "b@l.example" && known.bot == true)
    #expect(known.createdAt == 100 && known.askedAt == 7 && known.claim == .another && known.fault == nil)
    #expect(profile.claimedName == "bob@example.com")
    #expect(try sent(profile) == profile.value(of: secret.publicKey))
  }

  @Test("No field of a profile is lost between its event and its reader, whatever is in the texts")
  func allFields() throws {
    for text in ["a", #""b\\ c"#, "\u{1}\u{1F}\u{7F}\u{2028}é😀", "</c>\t\r\n\u{8}\u{C}.", #"{"pubkey":"d","#] {
      let quoted = String(decoding: JSONPayload.encode(text), as: UTF8.self)
      let members = Self.fields.map { name, _ in "\"\(name)\":\(quoted)," }.joined()
      let known = try sent(StoredProfile(event("{\(members)\"bot\":true}")), askedAt: 1, claim: .verified)
      for (name, field) in Self.fields { #expect(known[keyPath: field] == text, "\(name)") }
      let missing = Mirror(reflecting: known).children.filter { "\($0.value)" == "nil" }.compactMap(\.label)
      #expect(missing == ["fault"], "a field that is new is to be written too")
    }
  }

  private static let fields: [(String, any KeyPath<KnownProfile, String?> & Sendable)] = [
    ("name", \.name), ("display_name", \.displayName), ("about", \.about), ("picture", \.picture),
    ("banner", \.banner), ("website", \.website), ("nip05", \.nip05), ("lud16", \.lud16),
  ]

  @Test("The shown name is the display name, else the name, else that of the identifier, else the shortened key")
  func shownNames() throws {
    func shown(_ content: String) -> String {
      StoredProfile(event(content)).value(of: secret.publicKey).shownName
    }
    let npub = secret.publicKey.npub
    let short = "\(npub.prefix(10))…\(npub.suffix(6))"
    #expect(shown(#"{"display_name":"A","name":"b","nip05":"c@d.example"}"#) == "A")
    #expect(shown(#"{"display_name":" ","name":"b","nip05":"c@d.example"}"#) == "b")
    #expect(shown(#"{"nip05":"c@d.example"}"#) == "c" && shown(#"{"nip05":"_@d.example"}"#) == "d.example")
    #expect(shown("{}") == short && shown("[]") == short)
    #expect(StoredProfile(absent: secret.publicKey).value(of: secret.publicKey).shownName == short)
    #expect(shown(#"{"name":"a\u001b[2Jb\u202ec\nd"}"#) == #"a\e[2Jb\u{202E}c\nd"#)
    let long = shown(#"{"name":"\#(String(repeating: "n", count: 200))"}"#)
    #expect(long.count == KnownProfile.shownNameMaximum && long.hasSuffix("…"))
  }

  @Test("What is no profile is unreadable, and says why; a name of a megabyte is one")
  func unreadable() throws {
    for content in ["[]", "", "nonsense", #"{"name":"\#(String(repeating: "x", count: 1 << 20))"}"#] {
      let known = try sent(StoredProfile(event(content)))
      #expect(known.state == .unreadable && known.fault?.isEmpty == false && known.createdAt == 100, "\(known)")
    }
    // Too long for a name, and short enough for a profile.
    let known = try sent(StoredProfile(event(#"{"name":"\#(String(repeating: "x", count: 100_000))","about":"a"}"#)))
    #expect(known.state == .known && known.name == nil && known.about == "a")
  }

  @Test("The newest event counts; of two in one second the lower id; an older one changes nothing")
  func newest() {
    var memory = ProfileMemory(byteMaximum: 1 << 20)
    let key = secret.publicKey
    #expect(memory.learned(StoredProfile(absent: key), of: key) == false)
    #expect(memory.find(key)?.isPresent == false)
    let one = StoredProfile(event(#"{"name":"one"}"#, at: 100))
    let two = StoredProfile(event(#"{"name":"two"}"#, at: 100))
    #expect(memory.learned(one, of: key) == true)
    let isLower = two.id.flatMap { id in one.id.map { id < $0 } } == true
    #expect(memory.learned(two, of: key) == isLower)
    #expect(memory.learned(StoredProfile(event("{}", at: 99)), of: key) == false)
    #expect(
      memory.learned(StoredProfile(absent: key), of: key) == false, "it is not forgotten for an answer that is older")
    #expect(memory.learned(StoredProfile(event(#"{"name":"three"}"#, at: 101)), of: key) == true)
    #expect(memory.find(key)?.value(of: key).name == "three")
    #expect(memory.count == 1)
    memory.forget(key)
    #expect(memory.find(key) == nil)
    #expect(memory.byteCount == 0)
  }

  @Test("What was used longest ago goes first, and the bytes are those of what is left")
  func bounded() {
    let secrets = (0..<20).map { _ in SecretKey.generate() }
    let profiles = secrets.map { StoredProfile(event(#"{"name":"same length"}"#, by: $0)) }
    let cost = profiles[0].cost
    var memory = ProfileMemory(byteMaximum: 10 * cost)
    for (secret, profile) in zip(secrets, profiles).prefix(10) { memory.learned(profile, of: secret.publicKey) }
    #expect(memory.count == 10 && memory.byteCount == 10 * cost)
    // The first two are used, so that the third goes.
    for secret in secrets.prefix(2) { #expect(memory.find(secret.publicKey) != nil) }
    memory.learned(profiles[10], of: secrets[10].publicKey)
    #expect(memory.contains(secrets[0].publicKey) && memory.contains(secrets[1].publicKey))
    #expect(!memory.contains(secrets[2].publicKey) && memory.contains(secrets[3].publicKey))
    for (secret, profile) in zip(secrets, profiles) { memory.learned(profile, of: secret.publicKey) }
    #expect(memory.count == 10 && memory.byteCount == 10 * cost)
    memory.byteMaximum = 3 * cost
    #expect(memory.count == 3 && secrets.suffix(3).allSatisfy { memory.contains($0.publicKey) })
    memory.byteMaximum = 0
    #expect(memory.count == 1, "the newest is kept")
    memory.forgetAll()
    #expect(memory.count == 0 && memory.byteCount == 0)
  }

  @Test("A memory under random use has what a plain list has")
  func model() {
    var generator = SystemRandomNumberGenerator()
    let secrets = (0..<12).map { _ in SecretKey.generate() }
    let profiles = secrets.map { StoredProfile(event(#"{"name":"same length"}"#, by: $0)) }
    var memory = ProfileMemory(byteMaximum: 5 * profiles[0].cost)
    var order: [Int] = []
    for _ in 0..<2_000 {
      let number = Int.random(in: 0..<12, using: &generator)
      let key = secrets[number].publicKey
      switch Int.random(in: 0..<3, using: &generator) {
      case 0:
        let isNew = memory.learned(profiles[number], of: key)
        #expect(isNew == !order.contains(number))
        if isNew { order = [number] + order }
      case 1:
        #expect((memory.find(key) != nil) == order.contains(number))
        if order.contains(number) { order = [number] + order.filter { $0 != number } }
      default:
        memory.forget(key)
        order.removeAll { $0 == number }
      }
      order = Array(order.prefix(5))
      #expect(memory.count == order.count && order.allSatisfy { memory.contains(secrets[$0].publicKey) })
    }
  }
}
