internal import Cryptography
internal import JSON

/// Reads the content of a program's announcement field by field. A value that is not a text where one is required, or
/// is too long to be serious, counts as missing.
enum HandlerReader {
  /// Longest text, in bytes.
  private static let textByteCountMaximum = 8_192

  static func read(
    _ content: String
  ) throws(KindFault) -> (details: HandlerInformation.Details?, announcesNIP44: Bool) {
    guard content.utf8.contains(where: { $0 > 0x20 }) else { return (nil, false) }
    let bytes = Array(content.utf8)
    let maximum = HandlerInformation.contentByteCountMaximum
    guard bytes.count <= maximum else { throw .contentTooLarge(byteCount: bytes.count, maximum: maximum) }
    let result = bytes.withUnsafeBytes { bytes -> Result<(HandlerInformation.Details?, Bool), JSONFault> in
      do throws(JSONFault) { return .success(try read(bytes)) } catch { return .failure(error) }
    }
    switch result {
    case .success(let read): return read
    case .failure(let fault): throw .badContent(fault)
    }
  }

  private static func read(
    _ bytes: UnsafeRawBufferPointer
  ) throws(JSONFault) -> (HandlerInformation.Details?, Bool) {
    var scanner = JSONScanner(bytes)
    guard try scanner.peek() == UInt8(ascii: "{") else { throw JSONFault(.expected("an object"), at: scanner.position) }
    var details = HandlerInformation.Details()
    var image: String?
    var announcesNIP44 = false
    try scanner.forEachMember { name, scanner throws(JSONFault) in
      switch name {
      case "name": details.name = try text(&scanner)
      case "about": details.about = try text(&scanner)
      case "picture": details.picture = try text(&scanner)
      case "image": image = try text(&scanner)
      case "lud16": details.lightningAddress = try text(&scanner)
      case "amount": details.price = try text(&scanner)
      // nostr-dvm, the most used framework, writes `supportsEncryption`.
      case "encryptionSupported", "supportsEncryption": details.supportsEncryption = try boolean(&scanner)
      case "cashuAccepted": details.acceptsCashu = try boolean(&scanner)
      case "encryption": announcesNIP44 = try words(&scanner).contains { namesNIP44($0) }
      case "nip90Params": details.parameters = try parameters(&scanner)
      default: try scanner.skipValue()
      }
    }
    try scanner.expectEnd()
    details.picture = details.picture ?? image
    return (details, announcesNIP44)
  }

  /// Whether `nip44_v2` is among the words of a text.
  static func namesNIP44(_ text: String) -> Bool {
    text.utf8.split(separator: UInt8(ascii: " ")).contains { $0.elementsEqual("nip44_v2".utf8) }
  }

  // MARK: Values

  /// A text, or a number as written; nil for anything else, and for an empty text.
  private static func text(_ scanner: inout JSONScanner) throws(JSONFault) -> String? {
    let text: String
    switch try scanner.peek() {
    case UInt8(ascii: "\""): text = try scanner.scanString().string(in: scanner.bytes)
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      let range = try scanner.skipValue()
      text = String(decoding: scanner.bytes[range], as: UTF8.self)
    default:
      try scanner.skipValue()
      return nil
    }
    return text.isEmpty || text.utf8.count > textByteCountMaximum ? nil : text
  }

  /// `true` or `false`, also in quotes.
  private static func boolean(_ scanner: inout JSONScanner) throws(JSONFault) -> Bool? {
    switch try scanner.peek() {
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return try scanner.scanBoolean()
    default:
      switch try scanner.stringOrSkip()?.lowercased() {
      case "true": return true
      case "false": return false
      default: return nil
      }
    }
  }

  /// A text, or a list of texts.
  private static func words(_ scanner: inout JSONScanner) throws(JSONFault) -> [String] {
    if try scanner.peek() == UInt8(ascii: "\"") { return [try scanner.scanString().string(in: scanner.bytes)] }
    return try scanner.stringsOrSkip(countMaximum: 16)
  }

  /// `{"model":{"required":false,"values":["a","b"]}}`
  private static func parameters(
    _ scanner: inout JSONScanner
  ) throws(JSONFault) -> [HandlerInformation.Parameter] {
    var parameters: [HandlerInformation.Parameter] = []
    try scanner.forEachMember { name, scanner throws(JSONFault) in
      var isRequired = false
      var values: [String] = []
      try scanner.forEachMember { member, scanner throws(JSONFault) in
        switch member {
        case "required": isRequired = try boolean(&scanner) ?? false
        case "values": values = try list(&scanner)
        default: try scanner.skipValue()
        }
      }
      guard parameters.count < HandlerInformation.parameterCountMaximum, !name.isEmpty,
        name.utf8.count <= JobLimits.parameterByteCountMaximum
      else { return }
      parameters.append(HandlerInformation.Parameter(name: name, isRequired: isRequired, values: values))
    }
    return parameters
  }

  /// The texts and numbers of a list.
  private static func list(_ scanner: inout JSONScanner) throws(JSONFault) -> [String] {
    guard try scanner.peek() == UInt8(ascii: "[") else {
      try scanner.skipValue()
      return []
    }
    try scanner.expect(UInt8(ascii: "["))
    var values: [String] = []
    if try scanner.take(UInt8(ascii: "]")) { return values }
    repeat {
      if let value = try text(&scanner), values.count < HandlerInformation.valueCountMaximum { values.append(value) }
    } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "]"))
    return values
  }
}

extension HandlerInformation.Details {
  /// The content of an announcement; values that are not set are left out.
  var json: [UInt8] {
    var members: [(String, [UInt8])] = []
    func add(_ name: String, _ text: String?) {
      if let text { members.append((name, Self.quoted(text))) }
    }
    add("name", name)
    add("about", about)
    add("picture", picture)
    add("lud16", lightningAddress)
    add("amount", price)
    if let supportsEncryption { members.append(("encryptionSupported", Array("\(supportsEncryption)".utf8))) }
    if let acceptsCashu { members.append(("cashuAccepted", Array("\(acceptsCashu)".utf8))) }
    if !parameters.isEmpty {
      members.append(("nip90Params", Self.object(parameters.map { ($0.name, Self.json($0)) })))
    }
    return Self.object(members)
  }

  private static func json(_ parameter: HandlerInformation.Parameter) -> [UInt8] {
    let values = parameter.values.map { quoted($0) }.joined(separator: [UInt8(ascii: ",")])
    return object([
      ("required", Array("\(parameter.isRequired)".utf8)),
      ("values", [UInt8(ascii: "[")] + values + [UInt8(ascii: "]")]),
    ])
  }

  private static func object(_ members: [(String, [UInt8])]) -> [UInt8] {
    let texts = members.map { quoted($0.0) + [UInt8(ascii: ":")] + $0.1 }
    return [UInt8(ascii: "{")] + texts.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
  }

  private static func quoted(_ text: String) -> [UInt8] {
    var json: [UInt8] = []
    JSONString.append(text, to: &json)
    return json
  }
}
