import Addresses
import FoundationEssentials
import TestSupport
import Testing

@Suite struct RelayURLTests {
  @Test(
    "One relay has one spelling",
    arguments: [
      ("wss://relay.example.com", "wss://relay.example.com"),
      ("  WSS://Relay.Example.COM:443/\n", "wss://relay.example.com"),
      ("ws://127.0.0.1:80/", "ws://127.0.0.1"),
      ("ws://127.0.0.1:7777", "ws://127.0.0.1:7777"),
      ("wss://relay.example.com:0444/a/", "wss://relay.example.com:444/a"),
      ("wss://relay.example.com/Inbox?Key=%7ea%2f%3A", "wss://relay.example.com/Inbox?Key=~a%2F%3A"),
      ("wss://relay.example.com/,", "wss://relay.example.com"),
      ("wss://relay.example.com///", "wss://relay.example.com"),
      ("wss://relay.example.com/x./,/?", "wss://relay.example.com/x"),
      ("wss://relay.example.com?", "wss://relay.example.com"),
      ("ws://[0:0::1]:80", "ws://[::1]"),
      ("wss://[2001:DB8::0:1]:7777/x", "wss://[2001:db8::1]:7777/x"),
    ])
  func canonical(given: String, expected: String) throws {
    let url = try RelayURL(given)
    #expect(url.text == expected)
    #expect(try RelayURL(url.text) == url, "canonical twice is canonical once")
  }

  @Test(
    "An address that is none is refused in the user's terms",
    arguments: [
      ("", "empty"), ("https://relay.example.com", "begins with https://"), ("relay.example.com", "does not begin"),
      ("wss://", "no host"), ("wss://me:secret@relay.example.com", "user name"), ("wss://relay.example.com/#x", "#"),
      ("wss://relay.example.com:0", "port"), ("wss://relay.example.com:70000", "port"), ("wss://a b.com", "a b.com"),
      ("wss://relay.example.com:", "port"), ("wss://.example.com", "host name"), ("wss://example.com.", "host name"),
      ("wss://exämple.com", "xn--"), ("wss://\u{212A}.example.com", "xn--"), ("wss://1.2.3", "IP address"),
      ("wss://1.2.3.999", "IP address"), ("ws://127.0.0.0x1", "IP address"), ("ws://0x7F000001", "IP address"),
      ("ws://127.0x", "IP address"),
      ("wss://[::1", "host"), ("wss://[::g]", "host"), ("wss://[::1]x", "host"),
      ("wss://relay.example.com//x", "empty part"), ("wss://relay.example.com/wss://other.org", "pasted"),
      ("wss://relay.example.com/relay.example.com", "pasted"), ("wss://relay.example.com/a/../b", ".."),
      ("wss://relay.example.com/%2", "hexadecimal"), ("wss://relay.example.com/a%20b", "space"),
      ("wss://relay.example.com/a\u{7}b", "control"),
      ("wss://relay.example.com/" + String(repeating: "a", count: 200), "224"),
    ])
  func refused(given: String, word: String) {
    do {
      let url = try RelayURL(given)
      Issue.record("took \(url)")
    } catch {
      #expect(error.description.contains(word), "\(error)")
    }
  }

  @Test("What is dialled follows from the address")
  func dialled() throws {
    let url = try RelayURL("ws://[::1]:7777/inbox/?a=b")
    #expect(url.host == "::1" && url.port == 7777 && !url.isSecure)
    #expect(url.requestTarget == "/inbox?a=b")
    let secure = try RelayURL("wss://relay.example.com")
    #expect(secure.port == 443 && secure.requestTarget == "/")
  }

  @Test("In JSON it is a string, made canonical when read")
  func codable() throws {
    let json = try JSONEncoder().encode([try RelayURL("wss://relay.example.com")])
    let urls = try JSONDecoder().decode([RelayURL].self, from: json)
    #expect(urls.map(\.text) == ["wss://relay.example.com"])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([RelayURL].self, from: Data(#"["x"]"#.utf8)) }
  }

  @Test("The language-neutral corpus of normalised addresses agrees")
  func corpus() throws {
    struct Row: Decodable { let name: String, input: String?, expected: String? }
    guard let lines = SharedFolder.lines(of: "vectors/relay-selection/normalise-url.json") else { return }
    let rows = try JSONDecoder().decode([Row].self, from: Data(lines.joined(separator: [10])))
    #expect(rows.count > 30)
    for row in rows {
      #expect((try? RelayURL(row.input ?? ""))?.text == row.expected, "\(row.name)")
    }
  }

  /// What decision 3 chose where libraries differ: the address, what nostr-tools, go-nostr or rust-nostr make of it,
  /// and what is made of it here (nil: refused).
  @Test(
    "Where libraries disagree, the choice is the one that was decided",
    arguments: [
      ("wss://example.com", "wss://example.com/", "wss://example.com"),
      ("wss://x.com/y/", "wss://x.com/y", "wss://x.com/y"),
      ("wss://example.com:443", "wss://example.com/", "wss://example.com"),
      ("ws://example.com:80", "ws://example.com/", "ws://example.com"),
      ("wss://example.com?z=1&a=2", "wss://example.com/?a=2&z=1", "wss://example.com?z=1&a=2"),
      ("wss://example.com//path", "wss://example.com/path", nil), ("https://example.com", "wss://example.com/", nil),
      ("example.com", "wss://example.com/", nil), ("localhost:4036", "ws://localhost:4036", nil),
      ("wss://example.com#hash", "wss://example.com/", nil), ("nostr:askjd", "nostr://askjd", nil),
      ("wss://relay.damus.io,ws://127.0.0.1:7777", nil, nil), ("wss://relay.damus.iowss://127.0.0.1:8888", nil, nil),
      ("wss://", nil, nil),
    ] as [(String, String?, String?)])
  func disagreements(given: String, elsewhere: String?, here: String?) {
    #expect((try? RelayURL(given))?.text == here)
    // What another library made canonical is the same relay here, or none.
    if let elsewhere, let here {
      #expect((try? RelayURL(elsewhere))?.text.hasPrefix(here.prefix { $0 != "?" }) == true)
    }
  }

  @Test("What each library normalises is taken as the relay it names, or refused for a reason that was decided")
  func libraries() throws {
    struct Vectors: Decodable {
      let nostrTools: [[String?]], goNostr: [[String?]], rustNostrInvalid: [String]
    }
    guard let lines = SharedFolder.lines(of: "vectors/relay-urls/normalise-by-library.json") else { return }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let vectors = try decoder.decode(Vectors.self, from: Data(lines.joined(separator: [10])))
    for row in vectors.nostrTools + vectors.goNostr {
      guard let given = row[0] else { continue }
      do throws(RelayURLFault) {
        let url = try RelayURL(given)
        // The order of a query's parts is kept here; nostr-tools sorts them.
        let expected = row[1].map { $0.split(separator: "?").first.map(String.init) ?? $0 }
        let bare = String(url.text.prefix { $0 != "?" })
        #expect(expected == bare || expected == bare + "/", "\(given)")
      } catch {
        switch error.problem {
        case .empty, .scheme, .emptySegment, .fragment, .noHost: break
        default: Issue.record("\(error)")
        }
      }
    }
    for given in vectors.rustNostrInvalid { #expect((try? RelayURL(given)) == nil, "\(given)") }
  }

  @Test("Addresses seen in the wild are taken or refused without harm, and canonical twice is canonical once")
  func wild() throws {
    guard let lines = SharedFolder.lines(of: "vectors/relay-urls/relayDB.txt") else { return }
    var refused: [String] = []
    for line in lines {
      let text = String(decoding: line, as: UTF8.self)
      guard let url = try? RelayURL(text) else {
        refused.append(text)
        continue
      }
      #expect(try RelayURL(url.text) == url)
    }
    #expect(refused.count < lines.count / 20, "\(refused)")
  }
}
