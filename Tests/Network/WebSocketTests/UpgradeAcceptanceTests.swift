import Testing

@testable import WebSocket

@Suite struct UpgradeAcceptanceTests {
  private func head(
    _ line: String = "GET / HTTP/1.1", replacing name: String = "", with value: String? = nil, extensions: String? = nil
  ) throws -> HTTPRequestHead {
    var fields = [
      ("Host", "a"), ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
      ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]
    if !name.isEmpty { fields.removeAll { $0.0 == name } }
    if let value { fields.append((name, value)) }
    if let extensions { fields.append(("Sec-WebSocket-Extensions", extensions)) }
    let text = line + "\r\n" + fields.map { "\($0): \($1)\r\n" }.joined() + "\r\n"
    var reader = HTTPRequestReader()
    return try #require(try Array(text.utf8).withUnsafeBytes { bytes in try reader.receive(bytes).head })
  }

  private func answer(_ offers: String?) throws -> String? {
    let acceptance = try UpgradeAcceptance(head(extensions: offers), allowsCompression: true)
    let text = String(decoding: acceptance.response, as: UTF8.self)
    return text.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Extensions: ") }.map {
      String($0.dropFirst("Sec-WebSocket-Extensions: ".count))
    }
  }

  @Test("The RFC's example is accepted with the RFC's answer")
  func example() throws {
    let acceptance = try UpgradeAcceptance(
      head(), fields: [HTTPField("Server", "a\r\nb")], allowsCompression: true)
    let text = String(decoding: acceptance.response, as: UTF8.self)
    #expect(
      text == "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nServer: a??b\r\n\r\n")
    #expect(acceptance.compression == nil)
  }

  @Test("What lacks a part of the upgrade is refused with the status that says so")
  func refusals() throws {
    let cases: [(String, String, String?, Int)] = [
      ("GET / HTTP/1.0", "", nil, 426), ("POST / HTTP/1.1", "", nil, 405), ("GET / HTTP/1.1", "Upgrade", nil, 426),
      ("GET / HTTP/1.1", "Upgrade", "h2c", 426), ("GET / HTTP/1.1", "Connection", nil, 426),
      ("GET / HTTP/1.1", "Connection", "keep-alive", 426), ("GET / HTTP/1.1", "Sec-WebSocket-Version", nil, 426),
      ("GET / HTTP/1.1", "Sec-WebSocket-Version", "8", 426), ("GET / HTTP/1.1", "Sec-WebSocket-Version", "13, 8", 426),
      ("GET / HTTP/1.1", "Sec-WebSocket-Key", nil, 400), ("GET / HTTP/1.1", "Sec-WebSocket-Key", "", 400),
      ("GET / HTTP/1.1", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=", 400),
      ("GET / HTTP/1.1", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZR==", 400),
      ("GET / HTTP/1.1", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j!Q==", 400),
      ("GET / HTTP/1.1", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Key: x", 400),
    ]
    for (line, name, value, status) in cases {
      let head = try head(line, replacing: name, with: value)
      do throws(HTTPRequestRefusal) {
        _ = try UpgradeAcceptance(head, allowsCompression: true)
        Issue.record("\(name): \(value ?? "none") was accepted")
      } catch {
        #expect(error.status == status, "\(name): \(value ?? "none"): \(error)")
      }
    }
  }

  @Test("An offer of compression is answered so that nobody keeps a window, and honours the window that was named")
  func offers() throws {
    let plain = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
    let cases: [(String?, String?)] = [
      (nil, nil), ("", nil), ("x-webkit-deflate-frame", nil), ("permessage-deflate", plain),
      ("permessage-deflate; client_max_window_bits", plain), ("permessage-deflate;client_max_window_bits=9", plain),
      (
        "permessage-deflate; server_max_window_bits=10; server_no_context_takeover",
        plain + "; server_max_window_bits=10"
      ),
      ("permessage-deflate; server_max_window_bits=\"8\"", plain + "; server_max_window_bits=8"),
      ("foo, permessage-deflate; x, permessage-deflate", plain),
      ("foo; a=\", permessage-deflate, \"", nil), ("foo; a=\"\\\", permessage-deflate, \"", nil),
      ("permessage-deflate; server_max_window_bits", nil), ("permessage-deflate; server_max_window_bits=7", nil),
      ("permessage-deflate; server_max_window_bits=16", nil), ("permessage-deflate; client_max_window_bits=08", nil),
      ("permessage-deflate; client_no_context_takeover=1", nil), ("permessage-deflate;", nil),
      ("permessage-deflate; client_no_context_takeover; client_no_context_takeover", nil),
    ]
    for (offer, expected) in cases { #expect(try answer(offer) == expected, "\(offer ?? "none")") }
    let refusing = try UpgradeAcceptance(head(extensions: "permessage-deflate"), allowsCompression: false)
    #expect(refusing.compression == nil && !String(decoding: refusing.response, as: UTF8.self).contains("Extensions"))
  }

  @Test("What is compressed for any window comes out as it was, each message by itself, and only if that is shorter")
  func deflater() throws {
    let deflater = Deflater()
    let text = Array(String(repeating: "an event looks like the one before; ", count: 4_000).utf8)
    for bits in 9...15 {
      let inflater = Inflater(DeflateAgreement(keepsWindow: false, windowBits: bits), byteCountMaximum: text.count)
      for message in [text, Array(text[..<300]), text] {
        let packed = message.withUnsafeBytes { deflater.deflate($0, windowBits: bits) }
        #expect((packed?.count ?? .max) < message.count / 3, "\(bits) bits")
        #expect(try inflater.inflated(packed ?? []).get() == message)
      }
    }
    #expect(text.withUnsafeBytes { deflater.deflate($0, windowBits: 8) } == nil)
    for short in [[], [0x61], Array("0123456789abcdef".utf8)] as [[UInt8]] {
      #expect(short.withUnsafeBytes { deflater.deflate($0, windowBits: 15) } == nil)
    }
  }
}
