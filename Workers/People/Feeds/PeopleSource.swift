public import Cryptography
public import Frames
public import Nostr

/// The list that says whose events a feed shows.
public enum PeopleSource: Hashable, Sendable {
  /// Those whom a person follows (kind 3).
  case follows(of: PublicKey)
  /// Those of a set (kind 30000).
  case set(EventAddress)

  /// Reads a set as a person names it: its address, `naddr`, or the identifier of one of one's own.
  ///
  /// - Throws: `bad-request` for the address of another kind.
  public init(set text: String, of account: PublicKey) throws(Refusal) {
    var address = EventAddress(text)
    if address == nil, text.hasPrefix("naddr1") || text.hasPrefix("nostr:") {
      do throws(EntityFault) {
        address = EventAddress(try TagReference.address.value(spelled: text))
      } catch {
        throw Refusal(.badRequest, "'set': \(error)", outcome: .notStarted)
      }
    }
    guard let address = address ?? EventAddress(kind: EventKind.peopleSet, pubkey: account, identifier: TagValue(text))
    else { preconditionFailure("sets have addresses") }
    guard address.kind == EventKind.peopleSet else {
      throw Refusal(
        .badRequest, "'set' is of kind \(address.kind); a set of people is of kind \(EventKind.peopleSet)",
        outcome: .notStarted)
    }
    self = .set(address)
  }

  /// The author of the list.
  public var author: PublicKey {
    switch self {
    case .follows(let key): key
    case .set(let address): address.pubkey
    }
  }

  /// The filter for the list.
  public var filter: Filter {
    switch self {
    case .follows(let key): return Filter(authors: [key], kinds: [EventKind.follows])
    case .set(let address):
      var filter = Filter(authors: [address.pubkey], kinds: [address.kind])
      if let letter = TagLetter("d") { filter.tags[letter] = [address.identifier] }
      return filter
    }
  }

  /// Whether an event is a version of the list.
  public func isVersion(_ event: Event) -> Bool {
    switch self {
    case .follows(let key): event.kind == EventKind.follows && event.pubkey == key
    case .set(let address): EventAddress(of: event) == address
    }
  }

  /// The people of a version, each once, in its order.
  ///
  /// - Parameters:
  ///   - event: the version.
  ///   - hidden: the decrypted entries of a set.
  public static func people(of event: Event, hidden: [[String]]) -> [PublicKey] {
    var people: [PublicKey] = []
    var seen: Set<PublicKey> = []
    for tag in event.tags + hidden where tag.count > 1 && tag[0] == "p" && people.count < FollowList.countMaximum {
      if let key = PublicKey(tag[1]), seen.insert(key).inserted { people.append(key) }
    }
    return people
  }
}
