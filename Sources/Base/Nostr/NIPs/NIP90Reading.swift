internal import Addresses
internal import Cryptography
internal import JSON

/// Reads the tags of requests, results and feedback, and records their unusual properties.
struct JobTagReading {
  var terms: JobTerms
  private(set) var diagnostics: JobDiagnostics

  init(kind: UInt16) { self.init(terms: JobTerms(kind: kind), diagnostics: JobDiagnostics()) }

  init(terms: JobTerms, diagnostics: JobDiagnostics) {
    self.terms = terms
    self.diagnostics = diagnostics
  }

  mutating func note(_ diagnostic: JobDiagnostic) { diagnostics.note(diagnostic) }

  // MARK: Requests

  /// Reads a request's tags.
  mutating func read(_ tags: [[String]]) {
    for tag in tags {
      switch tag[0] {
      case "i": readInput(tag, wantsType: true)
      case "param": readParameter(tag)
      case "output": if terms.output == nil { terms.output = word(tag) }
      case "bid":
        if let text = word(tag), terms.bidMillisatoshis == nil { terms.bidMillisatoshis = number(text) }
      case "relays": readRelays(tag.dropFirst())
      case "p": readProvider(tag)
      case "t": readTopic(tag)
      case let name where name.hasPrefix("wss://") || name.hasPrefix("ws://"):
        note(.tagNamedByRelay)
        readRelays(tag[...])
      default: break
      }
    }
  }

  /// Reads the inputs that a result repeats; the NIP's own example has them without a type.
  mutating func readInputs(_ tags: [[String]]) {
    for tag in tags.named("i") { readInput(tag, wantsType: false) }
  }

  private mutating func readInput(_ tag: [String], wantsType: Bool) {
    guard tag.count > 1, !tag[1].isEmpty else { return note(.tagWithoutValue) }
    let type = tag.count > 2 ? tag[2] : ""
    let marker = tag.count > 4 ? tag[4] : ""
    guard terms.inputs.count < JobLimits.inputCountMaximum, tag[1].utf8.count <= JobLimits.inputByteCountMaximum,
      type.utf8.count <= JobLimits.wordByteCountMaximum, marker.utf8.count <= JobLimits.wordByteCountMaximum
    else { return note(.beyondLimit) }
    let input = JobInput(tag[1], type: type, relay: tag.count > 3 ? relay(tag[3]) : nil, marker: marker)
    if type.isEmpty {
      if wantsType { note(.inputWithoutType) }
    } else if let form = input.form {
      if form == .event || form == .job, input.eventID == nil { note(.inputIsNoEventID) }
    } else {
      note(.inputOfUnknownType)
    }
    terms.inputs.append(input)
  }

  private mutating func readParameter(_ tag: [String]) {
    guard tag.count > 1, !tag[1].isEmpty else { return note(.tagWithoutValue) }
    let values = tag.dropFirst(2)
    guard terms.parameters.count < JobLimits.parameterCountMaximum, values.count <= JobLimits.valueCountMaximum,
      tag.allSatisfy({ $0.utf8.count <= JobLimits.parameterByteCountMaximum })
    else { return note(.beyondLimit) }
    if values.isEmpty { note(.parameterWithoutValue) }
    terms.parameters.append(JobParameter(tag[1], Array(values)))
  }

  private mutating func readRelays(_ addresses: ArraySlice<String>) {
    if addresses.isEmpty { note(.tagWithoutValue) }
    for address in addresses {
      guard let relay = relay(address).map({ ForeignRelayURL($0) }), !terms.relays.contains(relay) else { continue }
      guard terms.relays.count < JobLimits.relayCountMaximum else { return note(.beyondLimit) }
      terms.relays.append(relay)
    }
  }

  private mutating func readProvider(_ tag: [String]) {
    guard let key = key(tag), !terms.providers.contains(key) else { return }
    guard terms.providers.count < JobLimits.providerCountMaximum else { return note(.beyondLimit) }
    terms.providers.append(key)
  }

  private mutating func readTopic(_ tag: [String]) {
    guard let topic = word(tag) else { return }
    guard terms.topics.count < JobLimits.topicCountMaximum else { return note(.beyondLimit) }
    terms.topics.append(topic)
  }

  // MARK: Values

  /// A tag's value, not empty and not too long; otherwise nil, which is recorded.
  mutating func word(_ tag: [String]) -> String? {
    guard tag.count > 1, !tag[1].isEmpty else {
      note(.tagWithoutValue)
      return nil
    }
    guard tag[1].utf8.count <= JobLimits.wordByteCountMaximum else {
      note(.beyondLimit)
      return nil
    }
    return tag[1]
  }

  mutating func relay(_ address: String) -> RelayURL? {
    if address.isEmpty { return nil }
    let relay = RelayURL(reading: address)
    if relay == nil { note(.badRelay) }
    return relay
  }

  mutating func key(_ tag: [String]) -> PublicKey? {
    let key = tag.count > 1 ? PublicKey(tag[1]) : nil
    if key == nil { note(.badKey) }
    return key
  }

  /// A whole number of millisatoshis. Blanks around it and `_` between its digits are ignored: some programs write
  /// numbers as in their source code. A comma is not ignored, because in many countries it begins a fraction.
  mutating func number(_ text: String) -> Int64? {
    let digits = text.utf8.filter { $0 != 0x5F && $0 != 0x20 }
    let isPlain = digits.count == text.utf8.count
    guard text.utf8.first != 0x5F, text.utf8.last != 0x5F, let number = plainNumber(digits),
      number <= JobAmount.millisatoshisMaximum
    else {
      note(.badAmount)
      return nil
    }
    if !isPlain { note(.groupedAmount) }
    return number
  }

  // MARK: Content

  /// The content of an event, classified by its form, not only by the tag `encrypted`.
  mutating func content(of event: Event, hasTag: Bool) -> JobContent {
    if let form = EncryptedForm(of: event.content) {
      if !hasTag { note(.encryptedTagMissing) }
      return .encrypted(event.content, form)
    }
    if hasTag { note(.encryptedTagWithoutCiphertext) }
    return event.content.isEmpty ? .empty : .clear(event.content)
  }

  /// Records the unusual properties of an encrypted request.
  mutating func noteEncryption() {
    if terms.providers.count != 1 { note(.encryptedForOthers) }
    if !terms.inputs.isEmpty || !terms.parameters.isEmpty { note(.clearBesideEncrypted) }
  }

  /// Reads the decrypted content of a request.
  mutating func readSecret(_ plaintext: String) {
    guard plaintext.utf8.count <= JobLimits.secretTagsByteCountMaximum, let tags = TagList.read(plaintext) else {
      return note(.decryptedIsNoTagList)
    }
    let isSecret: ([String]) -> Bool = { $0[0] == "i" || $0[0] == "param" }
    read(tags.filter(isSecret))
    let others = tags.filter { !isSecret($0) }
    if others.isEmpty { return }
    note(.otherTagsEncrypted)
    var hidden = JobTagReading(kind: terms.kind)
    hidden.read(others)
    diagnostics.add(hidden.diagnostics)
    terms.output = terms.output ?? hidden.terms.output
    terms.bidMillisatoshis = terms.bidMillisatoshis ?? hidden.terms.bidMillisatoshis
    if terms.relays.isEmpty { terms.relays = hidden.terms.relays }
    if terms.topics.isEmpty { terms.topics = hidden.terms.topics }
  }
}

extension [[String]] {
  /// Whether there is a tag with this name, with or without a value.
  func hasTag(_ name: String) -> Bool { contains { $0.first?.hasSameBytes(as: name) == true } }
}

/// A list of tags as JSON, the form of the encrypted content.
enum TagList {
  /// The most tags of a list.
  private static let countMaximum = 1_024

  /// Reads `[["name","value",…],…]`; also without the outer brackets, as in the descriptions of some kinds of jobs. A
  /// number or a word after a tag's name becomes text; an empty tag is left out.
  ///
  /// - Returns: nil for anything but a list of lists.
  static func read(_ json: String) -> [[String]]? {
    Array(json.utf8).withUnsafeBytes { bytes -> [[String]]? in
      do throws(JSONFault) { return try read(bytes, isBare: false) } catch {
        do throws(JSONFault) { return try read(bytes, isBare: true) } catch { return nil }
      }
    }
  }

  private static func read(_ bytes: UnsafeRawBufferPointer, isBare: Bool) throws(JSONFault) -> [[String]] {
    var scanner = JSONScanner(bytes)
    var tags: [[String]] = []
    if !isBare {
      try scanner.expect(UInt8(ascii: "["))
      if try scanner.take(UInt8(ascii: "]")) {
        try scanner.expectEnd()
        return []
      }
    }
    while true {
      let tag = try readTag(&scanner)
      if !tag.isEmpty, tags.count < countMaximum { tags.append(tag) }
      // Without brackets, the list may end after any tag, and nowhere else.
      if isBare, scanner.isAtEnd { return tags }
      if isBare {
        try scanner.expect(UInt8(ascii: ","))
      } else if try !scanner.take(UInt8(ascii: ",")) {
        break
      }
    }
    try scanner.expect(UInt8(ascii: "]"))
    try scanner.expectEnd()
    return tags
  }

  private static func readTag(_ scanner: inout JSONScanner) throws(JSONFault) -> [String] {
    try scanner.expect(UInt8(ascii: "["))
    var tag: [String] = []
    if try scanner.take(UInt8(ascii: "]")) { return tag }
    repeat {
      let isText = try scanner.peek() == UInt8(ascii: "\"")
      if isText || tag.isEmpty {
        tag.append(try scanner.scanString().string(in: scanner.bytes))
      } else {
        let range = try scanner.skipValue()
        tag.append(String(decoding: scanner.bytes[range], as: UTF8.self))
      }
    } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "]"))
    return tag
  }
}

extension JSONScanner {
  /// Whether nothing but white space follows.
  fileprivate var isAtEnd: Bool {
    var scanner = self
    do throws(JSONFault) {
      try scanner.expectEnd()
      return true
    } catch {
      return false
    }
  }
}
