import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

/// `Tests/Peers/links_peer.py`: what nostr-sdk and monstr send to a Roost, and what they open of it.
final class LinkPeer {
  /// A question; what one command does not know stays out.
  struct Question: Encodable {
    var ask: String
    var to: String?
    var text: String?
    var url: String?
    var note: String?
    var post: String?
    var relay: String?
    var relays: [String]?
    var wraps: [String]?
    var count: Int?
    var width: Int?
    var path: String?
    var at: Int64?
    var wrapAt: Int64?
    var secret: String?

    init(_ ask: String, to: PublicKey? = nil) { (self.ask, self.to) = (ask, to.map { "\($0)" }) }
  }

  /// A gift wrap that is not sent yet, and the id of its rumor.
  struct Made: Decodable {
    var id: String
    var wrap: String
    var wrapId: String
  }

  /// What the peer has opened.
  struct Opened: Decodable {
    var sender: String
    var wrapper: String
    var id: String
    var pubkey: String
    var kind: Int
    var content: String
    var tags: [[String]]
    var createdAt: Int64

    enum CodingKeys: String, CodingKey {
      case sender, wrapper, id, pubkey, kind, content, tags
      case createdAt = "created_at"
    }

    /// The members of a link's content that are texts.
    func payload() throws -> [String: JSONValue] {
      try JSONPayload.decode([String: JSONValue].self, from: Array(content.utf8))
    }
  }

  /// A copy of a rumor of a session, of which the peer has checked every layer and member.
  struct SessionCopy: Decodable {
    var id: String
    var pubkey: String
    /// Whom its gift wrap is for.
    var to: String
    var session: String
    var kind: String
    var url: String?
    var note: String?
    var name: String?
    var members: [String]?

    enum CodingKeys: String, CodingKey {
      case id, pubkey, to, kind, url, note
      case session = "conversation_id"
      case name = "session_name"
      case members = "member_pubkeys"
    }
  }

  /// The posts of a history, by author.
  struct History: Decodable {
    var counts: [String: Int]
    var seconds: Double
  }

  private struct Wraps: Decodable { var wraps: [String] }
  private struct OpenedAll: Decodable { var opened: [Opened] }
  private struct Copies: Decodable { var copies: [SessionCopy] }
  private struct Message: Decodable { var wrap: String }
  private struct Nothing: Decodable {}
  private struct Keys: Decodable {
    var sdk: String
    var monstr: String
  }
  private struct Answer<Value: Decodable>: Decodable {
    var ok: Value?
    var error: String?
  }

  private let lines: LinePeer
  /// The key in nostr-sdk.
  let sdk: PublicKey
  /// The key in monstr.
  let monstr: PublicKey

  init() throws {
    lines = try LinePeer("links_peer.py")
    let keys: Keys = try Self.ask(lines, Question("who"))
    (sdk, monstr) = (try #require(PublicKey(keys.sdk)), try #require(PublicKey(keys.monstr)))
  }

  private static func ask<Value: Decodable>(_ lines: LinePeer, _ question: Question) throws -> Value {
    let line = try lines.ask(JSONPayload.encode(question), within: 250)
    let answer = try JSONPayload.decode(Answer<Value>.self, from: line)
    guard let value = answer.ok else { throw DeadlinePassed(description: "\(question.ask): \(answer.error ?? "")") }
    return value
  }

  private func ask<Value: Decodable>(_ question: Question) throws -> Value { try Self.ask(lines, question) }

  // MARK: Making gift wraps

  func post(
    to: PublicKey, _ url: String, note: String? = nil, at: Int64? = nil, wrapAt: Int64? = nil
  ) throws -> Made {
    var question = Question("post", to: to)
    (question.url, question.note, question.at, question.wrapAt) = (url, note, at, wrapAt)
    return try ask(question)
  }

  func reply(to: PublicKey, _ post: String, _ note: String) throws -> Made {
    var question = Question("reply", to: to)
    (question.post, question.note) = (post, note)
    return try ask(question)
  }

  /// A rumor of links with any content.
  func content(to: PublicKey, _ text: String) throws -> Made {
    var question = Question("content", to: to)
    question.text = text
    return try ask(question)
  }

  /// A rumor of links that names no recipient.
  func untagged(to: PublicKey, _ text: String, at: Int64? = nil) throws -> Made {
    var question = Question("untagged", to: to)
    (question.text, question.at) = (text, at)
    return try ask(question)
  }

  func message(to: PublicKey, _ text: String) throws -> String {
    var question = Question("message", to: to)
    question.text = text
    return try (ask(question) as Message).wrap
  }

  func forged(to: PublicKey) throws -> [String] { try (ask(Question("forge", to: to)) as Wraps).wraps }

  /// Writes a history into a file.
  func history(to: PublicKey, _ count: Int, path: String, width: Int) throws -> History {
    var question = Question("history", to: to)
    (question.count, question.path, question.width) = (count, path, width)
    return try ask(question)
  }

  // MARK: Relays

  func send(_ wraps: [String], _ relays: [String]) throws {
    var question = Question("send")
    (question.wraps, question.relays) = (wraps, relays)
    _ = try ask(question) as Nothing
  }

  /// Publishes the lists of relays for gift wraps of both keys.
  func publishInboxes(_ relays: [String]) throws {
    var question = Question("inboxes")
    question.relays = relays
    _ = try ask(question) as Nothing
  }

  /// What nostr-sdk opens of a relay, once there are so many.
  func fetch(_ relay: String, _ count: Int) throws -> [Opened] {
    var question = Question("fetch")
    (question.relay, question.count) = (relay, count)
    return try (ask(question) as OpenedAll).opened
  }

  /// What a relay has of sessions for the peer's two keys and another, once there are so many copies.
  func sessions(_ relay: String, _ key: SecretKey, _ count: Int) throws -> [SessionCopy] {
    var question = Question("sessions")
    (question.relay, question.count) = (relay, count)
    question.secret = key.withSecret { Hexadecimal.text(of: $0) }
    return try (ask(question) as Copies).copies
  }

  func sendByMonstr(to: PublicKey, _ text: String, _ relay: String) throws {
    var question = Question("monstr-send", to: to)
    (question.text, question.relay) = (text, relay)
    _ = try ask(question) as Nothing
  }

  func fetchByMonstr(_ relay: String, _ count: Int) throws -> [Opened] {
    var question = Question("monstr-fetch")
    (question.relay, question.count) = (relay, count)
    return try (ask(question) as OpenedAll).opened
  }
}
