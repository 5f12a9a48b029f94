import Clocks
import Contracts
import Cryptography
import Nostr
import Profiles
import Testing

/// Whom some letters mean, and whose a name is.
@Suite("Finding people")
struct FindingTests {
  private let key = SecretKey.generate().publicKey

  private func names(_ content: String, petname: String? = nil) throws -> FoldedNames {
    var names = FoldedNames(try Profile(content: content))
    names.add(petname, .petname)
    return names
  }

  private func way(_ text: String, _ names: FoldedNames) -> FoundPerson.Way? {
    SoughtLetters(text).match(key, names)?.way
  }

  @Test("The same name is best, then its beginning, then a word's, then what is inside of a word")
  func ways() throws {
    let names = try names(#"{"name":"Alice Liddell"}"#)
    #expect(way("alice liddell", names) == .exact && way("  Alice", names) == .beginning)
    #expect(way("LID", names) == .word && way("ddel", names) == .inside && way("bob", names) == nil)
    #expect(way("alice li", names) == .beginning && way("alice liddell x", names) == nil)
  }

  @Test("Case, accents and compatibility forms make no difference")
  func folded() throws {
    #expect(way("jose", try names(#"{"name":"JOSÉ"}"#)) == .exact)
    #expect(way("ＪＯＳÉ", try names(#"{"name":"jose"}"#)) == .exact)
    #expect(way("山", try names(#"{"name":"山田太郎"}"#)) == .beginning)
    #expect(way("⚡", try names(#"{"name":"zap⚡"}"#)) == .word)
  }

  @Test("It is said what matched: a petname, a name, the name of the identifier, the beginning of the key")
  func fields() throws {
    let names = try names(#"{"name":"one","display_name":"two","nip05":"three@four.example"}"#, petname: "five")
    for (text, field): (String, FoundPerson.Field) in [
      ("one", .name), ("two", .displayName), ("three", .nip05), ("five", .petname),
    ] {
      let match = try #require(SoughtLetters(text).match(key, names))
      #expect(match.field == field && match.way == .exact)
    }
    #expect(SoughtLetters(String(key.npub.prefix(12))).match(key, names)?.field == .key)
    #expect(SoughtLetters(key.npub.uppercased()).match(key, names)?.way == .exact)
    #expect(SoughtLetters(String("\(key)".prefix(9))).match(key, names)?.field == .key)
    #expect(SoughtLetters("npub1").match(key, names) == nil && SoughtLetters("four").match(key, names) == nil)
    let own = try self.names(#"{"nip05":"_@four.example"}"#)
    #expect(SoughtLetters("four").match(key, own)?.field == .nip05)
  }

  @Test("Letters that are signs find nothing")
  func signs() throws {
    for text in ["!!", " ", "@", "\u{202E}"] { #expect(SoughtLetters(text).isEmpty, "\(text)") }
    #expect(!SoughtLetters("npub1qqq").isEmpty)
  }

  @Test("Those who are followed come first, then the best match, each person once")
  func ranked() throws {
    let keys = (1...5).compactMap { PublicKey(String(repeating: "0", count: 63) + "\($0)") }
    var people = RankedPeople()
    people.add(.init(keys[0], (.name, .inside), isFollowed: false))
    people.add(.init(keys[0], (.name, .exact), isFollowed: false))
    people.add(.init(keys[0], (.name, .word), isFollowed: false))
    people.add(.init(keys[1], (.profile, .exact), isFollowed: false))
    people.add(.init(keys[2], (.displayName, .inside), isFollowed: true))
    people.add(.init(keys[3], (.petname, .beginning), isFollowed: true))
    people.add(.init(keys[4], (.name, .beginning), isFollowed: false))
    #expect(people.count == 5 && people.best(10).map(\.key) == [keys[3], keys[2], keys[0], keys[4], keys[1]])
    #expect(people.best(2).count == 2 && people.best(10)[2].way == .exact)
  }

  @Test("A verdict counts for a day, a failure for an hour, and the oldest names go first")
  func claims() {
    func at(_ hours: UInt64) -> Instant { Instant(nanoseconds: hours * 3_600_000_000_000) }
    let other = SecretKey.generate().publicKey
    var claims = NameClaims(countMaximum: 8)
    claims.found("a@b.example", .key(key), at: at(0), wall: 5)
    #expect(claims.claim("a@b.example", by: key, at: at(23))?.verdict == .verified)
    let foreign = claims.claim("a@b.example", by: other, at: at(23))
    #expect(foreign?.verdict == .another && foreign?.otherPubkey == "\(key)" && foreign?.checkedAt == 5)
    #expect(claims.claim("a@b.example", by: key, at: at(24)) == nil)
    claims.found("c@b.example", .unknown("404"), at: at(1), wall: 6)
    claims.found("d@b.example", .unreachable("away"), at: at(1), wall: 6)
    let unknown = claims.claim("c@b.example", by: key, at: at(1))
    #expect(unknown?.verdict == .unknown && unknown?.reason == "404")
    #expect(claims.claim("d@b.example", by: key, at: at(1))?.verdict == .unreachable)
    #expect(claims.claim("c@b.example", by: key, at: at(2)) == nil)
    for number in 0..<20 { claims.found("n\(number)@b.example", .key(key), at: at(3), wall: 7) }
    #expect(claims.count <= 8 && claims.claim("n19@b.example", by: key, at: at(3)) != nil)
    #expect(claims.claim("a@b.example", by: key, at: at(3)) == nil)
  }
}
