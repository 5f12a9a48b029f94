import Cryptography
import FoundationEssentials
import JSON
import Nostr

/// An event read by `JSONDecoder` and written, slowly and obviously, as NIP-01 says: what the scanner is held against.
struct OracleEvent: Decodable {
  let id: String
  let pubkey: String
  let createdAt: Int64
  let kind: UInt16
  let tags: [[String]]
  let content: String
  let sig: String

  enum CodingKeys: String, CodingKey {
    case id, pubkey, kind, tags, content, sig
    case createdAt = "created_at"
  }

  init(_ json: [UInt8]) throws { self = try JSONDecoder().decode(OracleEvent.self, from: Data(json)) }

  /// The canonical form, character by character.
  var canonicalForm: String {
    let tags = tags.map { "[" + $0.map(quoted).joined(separator: ",") + "]" }.joined(separator: ",")
    return "[0,\"\(pubkey)\",\(createdAt),\(kind),[\(tags)],\(quoted(content))]"
  }

  private func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\u{8}": result += "\\b"
      case "\u{c}": result += "\\f"
      case "\0"..<" ":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

extension ScannedEvent {
  /// Reads an array.
  static func read(_ json: [UInt8]) throws(EventFault) -> ScannedEvent {
    let result = json.withUnsafeBytes { bytes -> Result<ScannedEvent, EventFault> in
      do throws(EventFault) { return .success(try ScannedEvent(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Tags and content as owned text.
  func texts(in json: [UInt8]) -> (tags: [[String]], content: String) {
    json.withUnsafeBytes { bytes in
      var reader = TagReader(self, in: bytes)
      var tags: [[String]] = []
      while reader.nextTag() {
        var tag: [String] = []
        while let text = reader.nextString() { tag.append(text.string(in: bytes)) }
        tags.append(tag)
      }
      return (tags, content.string(in: bytes))
    }
  }

  func canonicalForm(in json: [UInt8]) -> String {
    var form: [UInt8] = []
    json.withUnsafeBytes { appendCanonicalForm(of: $0, to: &form) }
    return String(decoding: form, as: UTF8.self)
  }

  func compactForm(in json: [UInt8]) -> [UInt8] {
    var form: [UInt8] = []
    json.withUnsafeBytes { appendCompactForm(of: $0, to: &form) }
    return form
  }
}
