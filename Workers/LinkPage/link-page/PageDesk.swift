import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import HTTPClient
import JSON
import LinkAddresses
import LinuxSystem
import Nostr
import QRCode
import TLS
import WorkerKit

// What a browser may ask: a list of methods of `link-feed` and of the planner, which are passed through, and a few of
// the page's own. No other method of the bus can be reached from here.

/// Answers requests of browsers.
@EventLoopActor
final class PageDesk {
  private let worker: Worker
  private let programs: LinkPrograms
  private let client = HTTPClient { () throws(TrustFault) in try TLSClient(authorityFile: nil) }

  /// The most bytes of one answer.
  static let answerByteCountMaximum = 8 << 20
  /// How long an answer may take: the wait of a post, and the search for relays before it.
  private static let answerMilliseconds: UInt32 = 180_000
  private static let relaysMilliseconds: UInt32 = 5_000

  /// What is passed to `link-feed`.
  private static let passed = Set(
    [
      LinkMethod.post.declaration, LinkMethod.reply.declaration, LinkMethod.read.declaration,
      LinkMethod.contact.declaration, LinkMethod.status.declaration, LinkMethod.sendMessage.declaration,
      LinkMethod.readMessages.declaration, PlanMethod.addRelay.declaration, PlanMethod.removeRelay.declaration,
    ].map(\.name))
  private static let passedInParts = Set(
    [
      LinkMethod.list.declaration, LinkMethod.show.declaration, LinkMethod.contacts.declaration,
      LinkMethod.listMessages.declaration, LinkMethod.showMessages.declaration,
    ].map(\.name))

  init(_ worker: Worker, _ programs: LinkPrograms) {
    self.worker = worker
    self.programs = programs
  }

  /// Answers one request, as a text for the browser.
  func answer(_ method: String, _ arguments: JSONValue?, id: Int64) async throws(Refusal) -> [UInt8] {
    let payload = JSONPayload.encode(arguments ?? .object([:]))
    if Self.passed.contains(method) {
      let answer = try await worker.bus.request(
        method, BusPayload(payload), ttlMilliseconds: Self.answerMilliseconds)
      return Self.text(id, "result", answer.bytes)
    }
    if Self.passedInParts.contains(method) { return Self.text(id, "parts", try await parts(method, payload)) }
    return Self.text(id, "result", try await own(method, payload))
  }

  private func parts(_ method: String, _ payload: [UInt8]) async throws(Refusal) -> [UInt8] {
    let answer = try await worker.bus.ask(method, BusPayload(payload), ttlMilliseconds: Self.answerMilliseconds)
    var list = Array("[".utf8)
    // The last one is the count of the others.
    while let part = try await answer.nextPart(), !part.isLast {
      if list.count > 1 { list.append(UInt8(ascii: ",")) }
      list += part.payload.bytes
      guard list.count < Self.answerByteCountMaximum else {
        let refusal = Refusal(.full, "that is more than the page can show at once", outcome: .done)
        // Parts that are not taken would hold the connection's room.
        answer.abandon(refusal)
        throw refusal
      }
    }
    return list + Array("]".utf8)
  }

  // MARK: Texts

  /// A text that was not asked for.
  static func pushed(_ name: String, _ value: [UInt8]) -> [UInt8] {
    Array("{\"\(name)\":".utf8) + value + Array("}".utf8)
  }

  /// A refusal.
  static func refused(_ id: Int64, _ refusal: Refusal) -> [UInt8] {
    let error = ["code": "\(refusal.code)", "message": refusal.message]
    return text(id, "error", JSONPayload.encode(error))
  }

  private static func text(_ id: Int64, _ name: String, _ value: [UInt8]) -> [UInt8] {
    Array("{\"id\":\(id),\"\(name)\":".utf8) + value + Array("}".utf8)
  }

  // MARK: The page's own

  private func own(_ method: String, _ payload: [UInt8]) async throws(Refusal) -> [UInt8] {
    switch method {
    case "page.link": JSONPayload.encode(try Link(try Self.url(in: payload)))
    case "page.key": JSONPayload.encode(try Self.key(payload))
    case "page.share": JSONPayload.encode(try await share(payload))
    case "page.relays": JSONPayload.encode(try await relays())
    case "page.open": JSONPayload.encode(try Self.opened(payload))
    case "page.address": JSONPayload.encode(["link": try Self.address(payload)])
    case "page.play": JSONPayload.encode(try await play(payload))
    default: throw Refusal(.denied, "the page may not ask for '\(method.prefix(64))'", outcome: .notStarted)
    }
  }

  private struct Link: Encodable {
    let url: String
    let host: String
    let label: String
    let provider: String?
    let isExtractable: Bool

    init(_ url: LinkURL) throws(Refusal) {
      let media = LinkMedia(url)
      (self.url, host, label, provider) = (url.text, url.host, media.label, media.provider?.rawValue)
      isExtractable = media.way == .extraction
    }
  }

  private struct URLArguments: Decodable {
    var url: String
    var post: String?
    var without: String?
  }

  private static func url(in payload: [UInt8]) throws(Refusal) -> LinkURL {
    try url(try JSONPayload.decode(URLArguments.self, from: payload).url)
  }

  private static func url(_ text: String) throws(Refusal) -> LinkURL {
    do throws(LinkURLFault) { return try LinkURL(text) } catch {
      throw Refusal(.badRequest, "that is no link: \(error)", outcome: .notStarted)
    }
  }

  private static func key(_ payload: [UInt8]) throws(Refusal) -> [String: String] {
    struct Arguments: Decodable { var text: String }
    let text = try JSONPayload.decode(Arguments.self, from: payload).text
    do throws(EntityFault) {
      let key = try PublicKey(spelled: String(text.drop(while: \.isWhitespace).prefix { !$0.isWhitespace }))
      return ["publicKey": "\(key)", "npub": key.npub]
    } catch {
      if case .secret = error {
        throw Refusal(.badRequest, "that is a secret key; a contact is named by npub1…", outcome: .notStarted)
      }
      throw Refusal(.badRequest, "that is no key: a contact is named by npub1…", outcome: .notStarted)
    }
  }

  private struct Share: Encodable {
    let npub: String
    /// The modules of the code, a row each; `1` is dark.
    let rows: [String]
  }

  private func share(_ payload: [UInt8]) async throws(Refusal) -> Share {
    struct Arguments: Decodable { var account: String }
    let name = try JSONPayload.decode(Arguments.self, from: payload).account
    let status = try await worker.bus.request(
      LinkMethod.status, NoArguments(), ttlMilliseconds: Self.relaysMilliseconds)
    guard let account = status.accounts.first(where: { $0.name == name }), let key = PublicKey(account.publicKey) else {
      throw Refusal(.noSuchAccount, "there is no account '\(name.prefix(64))'", outcome: .notStarted)
    }
    guard let code = QRCode(key.npub) else { return Share(npub: key.npub, rows: []) }
    let side = 0..<code.sideLength
    return Share(
      npub: key.npub,
      rows: side.map { row in side.map { code.isDark(row: row, column: $0) ? "1" : "0" }.joined() })
  }

  private struct Relays: Encodable {
    struct Row: Encodable {
      let relay: String
      let sources: [String]
      let state: String?
      let reason: String?

      init(_ relay: PlanRelayList.Relay) {
        (self.relay, sources) = (relay.relay, relay.sources)
        (state, reason) = (relay.state.map { "\($0.state)" }, relay.state?.reason)
      }
    }
    let relays: [Row]
  }

  private func relays() async throws(Refusal) -> Relays {
    let list = try await worker.bus.request(
      PlanMethod.relays, NoArguments(), ttlMilliseconds: Self.relaysMilliseconds)
    return Relays(relays: list.relays.map(Relays.Row.init).sorted { $0.relay < $1.relay })
  }

  private struct Opened: Encodable {
    let url: String
    let timestamp: Int64
    let post: String
  }

  private static func opened(_ payload: [UInt8]) throws(Refusal) -> Opened {
    struct Arguments: Decodable { var p: String }
    let parameter = try JSONPayload.decode(Arguments.self, from: payload).p
    do throws(LinkDeepLinkFault) {
      let link = try LinkDeepLink("linkstr://open?p=\(parameter)")
      return Opened(url: link.url.text, timestamp: link.timestamp, post: link.messageID)
    } catch { throw Refusal(.badRequest, "that is no link of linkstr: \(error)", outcome: .notStarted) }
  }

  private static func address(_ payload: [UInt8]) throws(Refusal) -> String {
    let wanted = try JSONPayload.decode(URLArguments.self, from: payload)
    let url = try url(wanted.url)
    do throws(LinkDeepLinkFault) {
      return try LinkDeepLink(url: url, timestamp: WallClock.seconds, messageID: wanted.post ?? "").text
    } catch { throw Refusal(.badRequest, "\(error)", outcome: .notStarted) }
  }

  // MARK: Playing

  /// How a link is played, decided after the click.
  private struct Play: Encodable {
    var way: String
    var media: String?
    var frame: String?
    var url: String?
    var why: String?
  }

  private func play(_ payload: [UInt8]) async throws(Refusal) -> Play {
    let wanted = try JSONPayload.decode(URLArguments.self, from: payload)
    let url = try Self.url(wanted.url)
    let media = LinkMedia(url)
    var why: String?
    if media.way == .extraction, programs.extracts, wanted.without != "media" {
      do throws(Refusal) { return Play(way: "media", media: try await programs.media(of: url).text) } catch {
        why = error.message
      }
    }
    switch media.embed {
    case .frame(let frame): return Play(way: "frame", frame: frame.text, why: why)
    case .lookup(let address):
      do throws(Refusal) { return Play(way: "frame", frame: try await player(at: address).text, why: why) } catch {
        return Play(way: "page", url: url.text, why: error.message)
      }
    case nil: return Play(way: "page", url: url.text, why: why)
    }
  }

  /// The player that a provider names for one of its pages (oEmbed).
  private func player(at address: LinkURL) async throws(Refusal) -> LinkURL {
    var request = HTTPRequest(.get, address.text)
    request.answerByteCountMaximum = LinkMedia.answerByteCountMaximum
    request.dialsGlobalAddressesOnly = true
    let answer: HTTPResponse
    do throws(HTTPFault) { answer = try await client.send(request) } catch {
      throw Refusal(.failed, "\(address.host) does not name its player: \(error)")
    }
    guard answer.status == 200, let player = LinkMedia.player(inAnswer: answer.body) else {
      throw Refusal(.failed, "\(address.host) names no player for it")
    }
    return player
  }
}
