internal import Cryptography
internal import JSON

// linkstr://open?p=<base64url without padding of {"url":"https://…","timestamp":1771700000,"messageGUID":"…"}>
//
// Any page can make a person click such a link, so all of it is a stranger's: the address passes the rules of
// ``LinkURL``, and the rest is bounded and shown nowhere by itself.

/// A link that opens a post in a linkstr program.
public struct LinkDeepLink: Hashable, Sendable {
  /// The link to open.
  public let url: LinkURL
  /// When it was shared, in seconds since 1970.
  public let timestamp: Int64
  /// The sharing program's id of the message; Roost writes the rumor's id.
  public let messageID: String

  /// The longest deep link that is read, in bytes.
  public static let byteCountMaximum = 8_192
  /// The longest id of a message, in bytes. An id is printable ASCII.
  public static let messageIDByteCountMaximum = 128

  private static let scheme = "linkstr://open"

  /// A deep link.
  ///
  /// - Throws: `badMessageID`.
  public init(url: LinkURL, timestamp: Int64, messageID: String) throws(LinkDeepLinkFault) {
    guard (1...Self.messageIDByteCountMaximum).contains(messageID.utf8.count),
      messageID.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw .badMessageID }
    self.url = url
    self.timestamp = timestamp
    self.messageID = messageID
  }

  /// Reads a deep link; white space around it is dropped.
  public init(_ text: String) throws(LinkDeepLinkFault) {
    guard text.utf8.count <= Self.byteCountMaximum else { throw .tooLong(byteCount: text.utf8.count) }
    let text = Self.trimmed(text)
    let address = text.prefix { $0 != "?" }
    // Some systems add a slash behind the host.
    let place = address.hasSuffix("/") ? address.dropLast() : address
    guard place.lowercased() == Self.scheme else { throw .otherAddress }
    let values = text[address.endIndex...].dropFirst().split(separator: "&").filter { $0.hasPrefix("p=") }
    guard let value = values.first?.dropFirst(2), !value.isEmpty else { throw .noPayload }
    guard values.count == 1, let bytes = Base64URL.bytes(value) else { throw .badPayload }
    try self.init(payload: bytes)
  }

  private init(payload bytes: [UInt8]) throws(LinkDeepLinkFault) {
    let json: JSONText
    do throws(JSONFault) { json = try JSONText(bytes) } catch { throw .badPayload }
    guard JSONFlaw.first(in: bytes) == nil, case .scalar(let time)? = json["timestamp"],
      let timestamp = Int64(String(decoding: bytes[time], as: UTF8.self)),
      let url = Self.string(json["url"], bytes), let messageID = Self.string(json["messageGUID"], bytes)
    else { throw .badPayload }
    let link: LinkURL
    do throws(LinkURLFault) { link = try LinkURL(url) } catch { throw .badURL(error) }
    try self.init(url: link, timestamp: timestamp, messageID: messageID)
  }

  private static func string(_ node: JSONText.Node?, _ bytes: [UInt8]) -> String? {
    guard case .scalar(let range)? = node, bytes[range.lowerBound] == UInt8(ascii: "\"") else { return nil }
    return bytes.withUnsafeBytes { buffer in
      var scanner = JSONScanner(buffer, at: range.lowerBound)
      do throws(JSONFault) { return try scanner.scanString().string(in: buffer) } catch {
        preconditionFailure("a string that was checked can be read: \(error)")
      }
    }
  }

  /// The text without white space around it.
  private static func trimmed(_ text: String) -> Substring {
    guard let first = text.firstIndex(where: { !$0.isWhitespace }),
      let last = text.lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return text[first...last]
  }

  /// The text as a string of JSON.
  private static func quoted(_ text: String) -> String {
    var json: [UInt8] = []
    JSONString.append(text, to: &json)
    return String(decoding: json, as: UTF8.self)
  }

  /// The deep link as text.
  public var text: String { "\(Self.scheme)?p=\(parameter)" }

  /// What is behind `p=`: letters, digits, `-` and `_`.
  public var parameter: String {
    let members = [
      "\"url\":\(Self.quoted(url.text))", "\"timestamp\":\(timestamp)",
      "\"messageGUID\":\(Self.quoted(messageID))",
    ]
    return Base64URL.text(of: Array("{\(members.joined(separator: ","))}".utf8))
  }
}

/// Why a text is no deep link.
public enum LinkDeepLinkFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// More bytes than are read.
  case tooLong(byteCount: Int)
  /// It does not begin with `linkstr://open?p=`.
  case otherAddress
  /// Nothing is in it.
  case noPayload
  /// What is in it is not the expected JSON.
  case badPayload
  /// The id of the message is empty, too long, or has other characters than printable ASCII.
  case badMessageID
  /// The link in it is not one.
  case badURL(LinkURLFault)

  /// The end of a sentence: `the link in it cannot be used: it has a backslash`.
  public var description: String {
    switch self {
    case .tooLong(let count): "it has \(count) bytes, and at most \(LinkDeepLink.byteCountMaximum) are read"
    case .otherAddress: "it does not begin with linkstr://open?p="
    case .noPayload: "nothing is in it: the part behind p= is missing"
    case .badPayload: "what is in it cannot be read; it may have been cut when it was copied"
    case .badMessageID: "the id of the message in it is not one"
    case .badURL(let fault): "the link in it cannot be used: \(fault)"
    }
  }
}
