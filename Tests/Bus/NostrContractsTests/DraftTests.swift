import Cryptography
import Frames
import Nostr
import Testing

@testable import NostrContracts

@Suite("Drafts")
struct DraftTests {
  private static let nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
  private static let key = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e"
  private static let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"

  private static let now: Int64 = 1_700_000_000

  private func read(_ json: String, allowsSecrets: Bool = false) throws(Refusal) -> Draft {
    try Draft(json: Array(json.utf8), named: "event", allowsSecrets: allowsSecrets, now: Self.now)
  }

  private func message(_ json: String) -> String {
    do throws(Refusal) {
      _ = try read(json)
      return "none"
    } catch {
      #expect(error.code == .badRequest && error.outcome == .notStarted)
      return error.message
    }
  }

  @Test("are filled in and become events of their author")
  func filledIn() throws {
    let author = SecretKey.generate().publicKey
    let event = try read(#"{"kind":1,"content":"x","tags":[["p","\#(Self.key)","wss://a"],["-"],["t","npub1"]]}"#)
      .event(of: author, now: 7)
    #expect(event.createdAt == 7 && event.pubkey == author && event.tags.count == 3)
    #expect(try read(#"{"kind":1,"created_at":0,"sig":"x"}"#).event(of: author, now: 7).createdAt == 0)
    let foreign = try read(#"{"kind":1,"pubkey":"\#(Self.key)"}"#)
    #expect(throws: Refusal.self) { try foreign.event(of: author, now: 7) }
  }

  @Test(
    "are refused with the place and what is meant",
    arguments: [
      ("1", "'event' is not an object"),
      (#"{"kind":1,"tgas":[]}"#, "'event.tgas' is nothing that an event has; did you mean 'tags'?"),
      (#"{"kind":65536}"#, "'event.kind' must be a whole number from 0 to 65535"),
      (#"{}"#, "'event.kind' is missing"),
      (#"{"kind":null}"#, "'event.kind' must be a whole number from 0 to 65535"),
      (#"{"kind":1,"created_at":-1}"#, "'event.created_at' is not a whole number of seconds since 1970"),
      (#"{"kind":1,"created_at":null}"#, "'event.created_at' is not a whole number of seconds since 1970"),
      (#"{"kind":1,"created_at":"1"}"#, "'event.created_at' is not a whole number of seconds since 1970"),
      (
        #"{"kind":1,"created_at":1700000000000}"#,
        "'event.created_at' is 1700000000000, more than a year ahead: it looks like milliseconds, and would be 1700000000 "
          + "in seconds; it is in seconds since 1970"
      ),
      (
        #"{"kind":1,"created_at":1731536001}"#,
        "'event.created_at' is 1731536001, more than a year ahead; it is in seconds since 1970"
      ),
      (
        #"{"kind":1,"created_at":9007199254740992}"#,
        "'event.created_at' is 9007199254740992, above 9007199254740991 (2^53 - 1), from where on programs read numbers "
          + "differently; it is in seconds"
      ),
      (
        #"{"kind":1,"created_at":99999999999999999999}"#,
        "'event.created_at' is above 9007199254740991 (2^53 - 1), from where on programs read numbers differently; it is "
          + "in seconds"
      ),
      (
        #"{"kind":1,"tags":[["t","x"],["p","npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"]]}"#,
        "the value of 'event.tags[1]' is not a public key, 64 lower-case hexadecimal digits; what is meant is written "
          + "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e"
      ),
      (
        #"{"kind":1,"tags":[["e","abc1"]]}"#,
        "the value of 'event.tags[0]' is not an event's id, 64 lower-case hexadecimal digits; it has 4 characters"
      ),
      (
        #"{"kind":1,"tags":[["e","note1qqq"]]}"#,
        "the value of 'event.tags[0]' is not an event's id, 64 lower-case hexadecimal digits; its value is broken: "
          + "it ends too early"
      ),
      (
        #"{"kind":1,"tags":[["a"]]}"#,
        "'event.tags[0]' has no value: 'a' refers to an address, as in 30023:3bf0…:name"
      ),
    ])
  func refused(json: String, message: String) { #expect(self.message(json) == message) }

  @Test("with a secret key anywhere are refused without repeating it, unless that is meant")
  func secrets() throws {
    for (json, place) in [
      (#"{"kind":1,"content":"x \#(Self.nsec)"}"#, "'event.content'"),
      (#"{"kind":1,"tags":[["p","\#(Self.nsec)"]]}"#, "'event.tags[0][1]'"),
      (#"{"kind":1,"tags":[["t","a"],["x","y","nostr:\#(Self.nsec.uppercased())"]]}"#, "'event.tags[1][2]'"),
    ] {
      let message = message(json)
      #expect(message.hasPrefix("\(place) holds a secret key (nsec1…)"), "\(message)")
      #expect(!message.lowercased().contains("vl029"))
    }
    _ = try read(#"{"kind":1,"content":"\#(Self.nsec)"}"#, allowsSecrets: true)
    #expect(throws: Refusal.self) { try read(#"{"kind":1,"tags":[["p","\#(Self.nsec)"]]}"#, allowsSecrets: true) }
    #expect(!message(#"{"kind":1,"\#(Self.nsec)":1}"#).contains("vl029"))
  }
}
