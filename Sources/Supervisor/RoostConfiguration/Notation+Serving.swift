internal import Addresses
internal import Contracts
internal import Frames

// Texts of a local relay's table: where it listens, its host names, and which clients and filters it fetches for.

extension Notation where Value == String {
  /// Where a server listens: a literal address and a port, kept as written.
  static let listenAddress = text("an address and a port") { text in
    do throws(ListenAddressFault) {
      _ = try ListenAddress(text)
      return nil
    } catch { return Complaint(message: error.description) }
  }

  /// The name of a host, in lower case: no scheme, no port, no path.
  static let hostName = Notation { value, context throws(Complaints) in
    let text = try Notation.text("a host's name").parse(value, context)
    let name = text.lowercased()
    guard isHostName(name) else {
      throw Complaints(
        "\"\(text)\" is not a host's name: write it without ws://, port and path, such as \"relay.home.arpa\"")
    }
    return name
  } render: {
    .string($0)
  }

  /// A client: the origin of a page in a browser (`https://client.example`), or a public key.
  static let client = text("an origin such as \"https://client.example\", or a public key") { text in
    if let complaint = complaint(aboutSecret: text) { return complaint }
    if isPublicKey(text) || isOrigin(text) { return nil }
    return Complaint(
      message: "\"\(text)\" is neither an origin (a scheme, a host and perhaps a port, without a path, such as"
        + " \"https://client.example\") nor a public key (64 lower case hexadecimal digits, npub1… or nprofile1…)")
  }

  private static func isOrigin(_ text: String) -> Bool {
    guard let mark = text.firstIndex(of: ":"), text[mark...].hasPrefix("://") else { return false }
    let host = text[text.index(mark, offsetBy: 3)...]
    return text.utf8.first.map(isLetter) == true
      && text[..<mark].utf8.allSatisfy { isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) }
      && !host.isEmpty && host.utf8.allSatisfy { isLetter($0) || isDigit($0) || "-._[]:".utf8.contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { byte | 0x20 &- 0x61 < 26 }
  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  /// A filter (NIP-01) as JSON. Only the names of its fields and the kinds of their values are checked here; the worker
  /// checks the values.
  static let filter = text("a filter as JSON") { text in
    let form = "write a filter (NIP-01) as JSON, such as '{\"kinds\":[0,3,10002]}'"
    // Text that is not JSON gets the same complaint as JSON that is not an object.
    guard case .object(let fields)? = try? JSONPayload.decode(JSONValue.self, from: text.utf8) else {
      return Complaint(message: "this is no JSON object: \(form)")
    }
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      if let complaint = complaint(aboutField: name, value) {
        return Complaint(message: "\(complaint): \(form)", nearest: NearestName.find(name, among: filterFields))
      }
    }
    return nil
  }

  private static let filterFields = ["ids", "authors", "kinds", "since", "until", "limit", "search"]

  private static func complaint(aboutField name: String, _ value: JSONValue) -> String? {
    switch (name, value) {
    case ("kinds", .array(let values)):
      return values.allSatisfy { if case .integer(0...65_535) = $0 { true } else { false } }
        ? nil : "'kinds' holds what is no kind, 0 to 65535"
    case ("since", .integer(0...)), ("until", .integer(0...)), ("limit", .integer(0...)), ("search", .string):
      return nil
    case ("ids", .array(let values)), ("authors", .array(let values)):
      return values.allSatisfy { if case .string(let text) = $0 { isHexadecimal(text) } else { false } }
        ? nil : "'\(name)' holds what is not 64 lower case hexadecimal digits"
    case (_, .array(let values)) where isTag(name): return texts(name, values)
    case _ where isTag(name), ("ids", _), ("authors", _), ("kinds", _): return "'\(name)' is no list"
    case ("search", _): return "'search' is no text"
    case ("since", _), ("until", _), ("limit", _): return "'\(name)' is no whole number from 0 on"
    default: return "a filter has no field '\(name)'"
    }
  }

  private static func isTag(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return bytes.count == 2 && bytes[0] == UInt8(ascii: "#") && isLetter(bytes[1])
  }

  private static func texts(_ name: String, _ values: [JSONValue]) -> String? {
    values.allSatisfy { if case .string = $0 { true } else { false } } ? nil : "'\(name)' holds what is no text"
  }
}
