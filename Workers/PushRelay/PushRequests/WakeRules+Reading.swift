internal import Cryptography
public import Frames
internal import Nostr
internal import PushDelivery
public import PushRules

extension WakeRules {
  /// Reads the body of `PUT /rules`. Missing members have their defaults.
  ///
  ///     {"wake":{"message":true,"reaction":false},
  ///      "mute":{"pubkeys":["…"],"events":["…"],"hashtags":["…"],"words":["…"]}}
  ///
  /// - Throws: `invalid_request`, with the wrong member.
  public init(_ body: RequestBody) throws(PushRefusal) {
    self.init()
    try body.allows(["wake", "mute"], in: "the rules")
    if let wake = try body.part("wake") {
      try wake.allows(WakeTopic.allCases.map(\.rawValue), in: "'wake'")
      for topic in WakeTopic.allCases {
        guard let isOn = try wake.flag(topic.rawValue) else { continue }
        if isOn { topics.insert(topic) } else { topics.remove(topic) }
      }
    }
    guard let mute = try body.part("mute") else { return }
    try mute.allows(["pubkeys", "events", "hashtags", "words"], in: "'mute'")
    mutedPeople = Set(try mute.keys("pubkeys", countMaximum: Self.peopleMaximum).map { PublicKey($0) })
    mutedThreads = Set(try mute.keys("events", countMaximum: Self.threadMaximum).map { EventID($0) })
    mutedHashtags = try mute.words("hashtags")
    mutedWords = try mute.words("words")
  }

  /// The same in the form that the ledger stores and `GET /rules` answers: all members, lists in order.
  public var json: JSONValue {
    func list(_ texts: some Sequence<String>) -> JSONValue { .array(texts.sorted().map { .string($0) }) }
    let wake = WakeTopic.allCases.map { ($0.rawValue, JSONValue.bool(topics.contains($0))) }
    return .object([
      "wake": .object(Dictionary(uniqueKeysWithValues: wake)),
      "mute": .object([
        "pubkeys": list(mutedPeople.map(\.description)), "events": list(mutedThreads.map(\.description)),
        "hashtags": list(mutedHashtags), "words": list(mutedWords),
      ]),
    ])
  }
}

extension RequestBody {
  /// An unknown member would have no effect, so it is refused.
  fileprivate func allows(_ names: [String], in place: String) throws(PushRefusal) {
    guard let other = members.keys.sorted().first(where: { !names.contains($0) }) else { return }
    let verb = place.hasPrefix("'") ? "has" : "have"
    let known = names.map { "'\($0)'" }.joined(separator: ", ")
    throw .invalid("\(place) \(verb) no '\(other.prefix(64))'; there are \(known)")
  }

  fileprivate func keys(_ name: String, countMaximum: Int) throws(PushRefusal) -> [Octets32] {
    var keys: [Octets32] = []
    for (index, text) in (try texts(name, countMaximum: countMaximum, byteCountMaximum: 64) ?? []).enumerated() {
      guard let octets = Octets32(hexadecimal: text.utf8) else {
        throw .invalid("'\(name)[\(index)]' is not 64 lower-case hexadecimal digits")
      }
      keys.append(octets)
    }
    return keys
  }

  fileprivate func words(_ name: String) throws(PushRefusal) -> Set<String> {
    let texts = try texts(
      name, countMaximum: WakeRules.wordMaximum, byteCountMaximum: WakeRules.wordByteCountMaximum)
    var words: Set<String> = []
    for (index, text) in (texts ?? []).enumerated() {
      guard !text.isEmpty, !text.hasControlCharacters else {
        throw .invalid("'\(name)[\(index)]' is empty or has control characters")
      }
      // Some letters are longer in lower case, and what is stored must be short enough to be read again.
      let word = text.lowercased()
      guard word.utf8.count <= WakeRules.wordByteCountMaximum else {
        throw .invalid("'\(name)[\(index)]' is longer than \(WakeRules.wordByteCountMaximum) bytes in lower case")
      }
      words.insert(word)
    }
    return words
  }
}
