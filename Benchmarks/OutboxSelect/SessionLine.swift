import JSON

/// A line of a session, or of the census before the first.
struct SessionLine {
  /// What a relay brought since the line before.
  struct Received {
    var isReached = false
    /// Author, minute and event id, three numbers each.
    var events: [Int] = []
    /// By author: the minute back to which nothing is missing.
    var completeSince: [(author: Int, minute: Int)] = []
  }

  /// A relay that a client could know of.
  struct Relay {
    var id = -1
    /// Whether a monitor calls it alive; nil: the line does not say.
    var isListed: Bool?
  }

  /// More of these in a line are refused.
  static let listMaximum = 1_000_000

  var minute = 0
  var windowDays = 7
  /// How far back a census goes; nil: the line is a session's.
  var censusDays: Int?
  var follows: [Int] = []
  var lists: [Int: [Int]] = [:]
  var relays: [Relay] = []
  var received: [(relay: Int, what: Received)] = []

  init(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) {
    var scanner = JSONScanner(bytes)
    var seen: Set<String> = []
    try scanner.readObject { name, scanner throws(JSONFault) in
      let key = name.string(in: bytes)
      seen.insert(key)
      switch key {
      case "minute": minute = try scanner.scanInteger()
      case "window_days": windowDays = try scanner.scanInteger()
      case "census_days": censusDays = try scanner.scanInteger()
      case "follows": follows = try scanner.scanIntegers()
      case "lists":
        try scanner.forEachNumbered { author, scanner throws(JSONFault) in
          lists[author] = try scanner.scanIntegers()
        }
      case "relays":
        try scanner.readArray { scanner throws(JSONFault) in relays.append(try Self.relay(&scanner)) }
      case "received":
        try scanner.forEachNumbered { relay, scanner throws(JSONFault) in
          received.append((relay, try Self.received(&scanner)))
        }
      default: try scanner.skipValue()
      }
    }
    try scanner.expectEnd()
    for key in ["follows", "lists", "relays"] where !seen.contains(key) {
      throw JSONFault(.expected("\"\(key)\""), at: bytes.count)
    }
    guard windowDays > 0, windowDays < 100_000, (censusDays ?? 1) > 0, (censusDays ?? 1) < 100_000 else {
      throw JSONFault(.expected("a number of days"), at: bytes.count)
    }
  }

  private static func relay(_ scanner: inout JSONScanner) throws(JSONFault) -> Relay {
    var relay = Relay()
    let start = scanner.position
    try scanner.readObject { name, scanner throws(JSONFault) in
      if name.equals("id", in: scanner.bytes) {
        relay.id = try scanner.scanInteger()
      } else if name.equals("nip66", in: scanner.bytes) {
        if try scanner.peek() == UInt8(ascii: "n") {
          try scanner.skipValue()
        } else {
          relay.isListed = try scanner.scanBoolean()
        }
      } else {
        try scanner.skipValue()
      }
    }
    guard relay.id >= 0 else { throw JSONFault(.expected("a relay with an id"), at: start) }
    return relay
  }

  private static func received(_ scanner: inout JSONScanner) throws(JSONFault) -> Received {
    var received = Received()
    try scanner.readObject { name, scanner throws(JSONFault) in
      if name.equals("ok", in: scanner.bytes) {
        received.isReached = try scanner.scanBoolean()
      } else if name.equals("events", in: scanner.bytes) {
        try scanner.readArray { scanner throws(JSONFault) in
          let event = try scanner.scanIntegers()
          guard event.count == 3 else { throw JSONFault(.expected("[author, minute, event]"), at: scanner.position) }
          received.events += event
        }
      } else if name.equals("complete_since", in: scanner.bytes) {
        try scanner.forEachNumbered { author, scanner throws(JSONFault) in
          received.completeSince.append((author, try scanner.scanInteger()))
        }
      } else {
        try scanner.skipValue()
      }
    }
    return received
  }
}

extension JSONScanner {
  /// A whole number that may be negative.
  mutating func scanInteger() throws(JSONFault) -> Int {
    guard try take(UInt8(ascii: "-")) else { return try scanUnsignedInteger() }
    return -(try scanUnsignedInteger())
  }

  mutating func scanIntegers() throws(JSONFault) -> [Int] {
    var all: [Int] = []
    try readArray { scanner throws(JSONFault) in
      guard all.count < SessionLine.listMaximum else {
        throw JSONFault(.expected("a shorter list"), at: scanner.position)
      }
      all.append(try scanner.scanInteger())
    }
    return all
  }

  /// An object whose keys are whole numbers.
  mutating func forEachNumbered(
    _ body: (Int, inout JSONScanner) throws(JSONFault) -> Void
  ) throws(JSONFault) {
    try readObject { name, scanner throws(JSONFault) in
      guard let number = Int(name.string(in: scanner.bytes)), number >= 0 else {
        throw JSONFault(.expected("a number as key"), at: name.content.lowerBound)
      }
      try body(number, &scanner)
    }
  }
}
