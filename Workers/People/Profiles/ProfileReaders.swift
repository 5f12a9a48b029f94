public import Cryptography
internal import DequeModule

// The callers of `people.profiles`, and what each has still to get.
//
// A caller that takes no parts stops only itself: a change meanwhile is a mark on a person, not a copy of a profile,
// and two changes are one mark. So a caller costs some bytes for each of its people, whatever happens.

/// The open requests for profiles.
public struct ProfileReaders: Sendable {
  /// The most requests of all callers.
  public static let countMaximum = 256
  /// The most people of all open requests together; further requests are refused.
  public static let keyMaximum = 262_144

  /// The name of an open request.
  public typealias Reader = UInt64

  private struct Request: Sendable {
    let keys: [PublicKey]
    let isLive: Bool
    /// For each person: whether a part is due, and whether relays are being asked.
    var marks: [Mark]
    /// For each person: what was sent last; nil: nothing.
    var told: [Int?]
    var due: Deque<Int32> = []
    var pendingCount = 0
    var askedCount = 0
    var failedCount = 0
    var reason: String?
    var hasToldAsked = false
  }

  private struct Mark: OptionSet, Sendable {
    let rawValue: UInt8
    static let due = Mark(rawValue: 1)
    static let pending = Mark(rawValue: 2)
  }

  private struct Place: Sendable {
    let reader: Reader
    let index: Int32
  }

  /// What a request gets next.
  public enum Step: Hashable, Sendable {
    /// Send what is known of these people.
    case read([PublicKey])
    /// Say that relays have been asked for so many, and could not be for others.
    case asked(count: Int, failed: Int, reason: String?)
    /// Nothing more comes.
    case end
    /// Nothing at present.
    case wait
  }

  private var requests: [Reader: Request] = [:]
  private var index: [PublicKey: [Place]] = [:]
  private var lastReader: Reader = 0
  /// The people of all requests.
  public private(set) var keyCount = 0

  /// No requests.
  public init() {}

  /// The number of requests.
  public var count: Int { requests.count }

  /// Whether one more request with so many people has room.
  public func hasRoom(for count: Int) -> Bool {
    requests.count < Self.countMaximum && keyCount + count <= Self.keyMaximum
  }

  /// Whether an open request has this person.
  public func watches(_ key: PublicKey) -> Bool { index[key] != nil }

  /// A request has come; each person is due at once.
  ///
  /// - Parameters:
  ///   - keys: the people, each once.
  ///   - isLive: whether it stays open for changes.
  public mutating func opened(_ keys: [PublicKey], isLive: Bool) -> Reader {
    lastReader += 1
    var request = Request(
      keys: keys, isLive: isLive, marks: Array(repeating: .due, count: keys.count),
      told: Array(repeating: nil, count: keys.count))
    request.due = Deque((0..<Int32(keys.count)))
    for (place, key) in keys.enumerated() {
      index[key, default: []].append(Place(reader: lastReader, index: Int32(place)))
    }
    keyCount += keys.count
    requests[lastReader] = request
    return lastReader
  }

  /// Relays are being asked for some of a request's people.
  public mutating func pending(_ keys: [PublicKey], of reader: Reader) {
    for key in keys {
      for place in index[key] ?? [] where place.reader == reader {
        guard requests[reader]?.marks[Int(place.index)].insert(.pending).inserted == true else { continue }
        requests[reader]?.pendingCount += 1
        requests[reader]?.askedCount += 1
      }
    }
  }

  /// A person's profile has changed.
  ///
  /// - Returns: the requests that have something to read.
  public mutating func changed(_ key: PublicKey) -> [Reader] {
    var readers: [Reader] = []
    for place in index[key] ?? [] {
      markDue(place)
      readers.append(place.reader)
    }
    return readers
  }

  /// Relays have been asked for people, or could not be.
  ///
  /// - Returns: the requests that have something to read.
  public mutating func asked(_ keys: [PublicKey], failure: String?) -> Set<Reader> {
    var readers: Set<Reader> = []
    for key in keys {
      for place in index[key] ?? [] {
        let mark = requests[place.reader]?.marks[Int(place.index)] ?? []
        guard mark.contains(.pending) else { continue }
        requests[place.reader]?.marks[Int(place.index)].remove(.pending)
        requests[place.reader]?.pendingCount -= 1
        if let failure {
          requests[place.reader]?.failedCount += 1
          requests[place.reader]?.askedCount -= 1
          requests[place.reader]?.reason = failure
        }
        if requests[place.reader]?.told[Int(place.index)] == nil { markDue(place) }
        readers.insert(place.reader)
      }
    }
    return readers
  }

  /// People whom a request has read are due again, because there was no room for them.
  public mutating func again(_ keys: [PublicKey], of reader: Reader) {
    for key in keys { for place in index[key] ?? [] where place.reader == reader { markDue(place) } }
  }

  private mutating func markDue(_ place: Place) {
    guard requests[place.reader]?.marks[Int(place.index)].insert(.due).inserted == true else { return }
    requests[place.reader]?.due.append(place.index)
  }

  /// Whether something of a request's people is to be read.
  public func hasDue(_ reader: Reader) -> Bool { requests[reader].map { !$0.due.isEmpty } ?? false }

  /// What a request gets next. People whom it reads are no longer due.
  ///
  /// - Parameters:
  ///   - reader: the request.
  ///   - maximum: the most people to read.
  public mutating func next(_ reader: Reader, maximum: Int) -> Step {
    if hasDue(reader) { return .read(takeDue(reader, maximum)) }
    guard let request = requests[reader] else { return .end }
    guard request.pendingCount == 0 else { return .wait }
    if !request.hasToldAsked {
      requests[reader]?.hasToldAsked = true
      return .asked(count: request.askedCount, failed: request.failedCount, reason: request.reason)
    }
    return request.isLive ? .wait : .end
  }

  private mutating func takeDue(_ reader: Reader, _ maximum: Int) -> [PublicKey] {
    guard let people = requests[reader]?.keys else { return [] }
    var keys: [PublicKey] = []
    while keys.count < maximum, let place = requests[reader]?.due.popFirst() {
      requests[reader]?.marks[Int(place)].remove(.due)
      keys.append(people[Int(place)])
    }
    return keys
  }

  /// Whether a request is sent what is known of a person now: a profile, or its absence if no relay is being asked; and
  /// not what it was sent last. It then counts as sent.
  ///
  /// - Parameters:
  ///   - reader: the request.
  ///   - key: the person.
  ///   - isPresent: whether there is a profile.
  ///   - version: a number of what is known, another one for each change.
  public mutating func tells(_ reader: Reader, of key: PublicKey, isPresent: Bool, version: Int) -> Bool {
    guard let place = index[key]?.first(where: { $0.reader == reader }), let marks = requests[reader]?.marks else {
      return false
    }
    let index = Int(place.index)
    // `told` is in no other variable here: it would be copied whole for each person.
    guard isPresent || !marks[index].contains(.pending), requests[reader]?.told[index] != version else { return false }
    requests[reader]?.told[index] = version
    return true
  }

  /// A request has ended.
  public mutating func closed(_ reader: Reader) {
    guard let request = requests.removeValue(forKey: reader) else { return }
    keyCount -= request.keys.count
    for key in request.keys {
      index[key]?.removeAll { $0.reader == reader }
      if index[key]?.isEmpty == true { index[key] = nil }
    }
  }
}
