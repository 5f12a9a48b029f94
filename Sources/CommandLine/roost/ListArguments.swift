internal import Addresses
internal import ArgumentParser
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Nostr
internal import Rendering

/// Which list of which account.
struct ListChoice: ParsableArguments, Sendable {
  @Argument(
    help: ArgumentHelp("The list: follows, mutes, relays, people and others ('roost lists' shows them), or a kind."),
    transform: ListWord.read)
  var list: UInt16
  @Option(name: .customLong("name"), help: ArgumentHelp("The name of a set, its tag d.", valueName: "name"))
  var identifier: String?
  @Option(name: .customLong("as"), help: ArgumentHelp("Whose list.", valueName: "account"))
  var account = AccountWord.unnamed

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if KindClass(list) == .addressable, identifier == nil {
      throw ValidationError("There may be several of this kind: give the --name of the one that is meant.")
    }
    if KindClass(list) != .addressable, identifier != nil {
      throw ValidationError("An account has one list of this kind, which has no --name.")
    }
  }

  var wanted: PeopleList { PeopleList(account: account.name, kind: list, identifier: identifier) }
}

/// A list as it is typed.
enum ListWord {
  @Sendable static func read(_ text: String) throws -> UInt16 {
    guard let kind = ListText.kind(of: text) else {
      let words = ListText.words.joined(separator: ", ")
      throw ValidationError("'\(text)' is no list: \(words), or the number of a kind.")
    }
    guard [.replaceable, .addressable].contains(KindClass(kind)) else {
      throw ValidationError("Kind \(kind) is no list: each event of it stays beside the others.")
    }
    return kind
  }
}

/// How the newest version is known, and what a change may do.
struct EditWay: ParsableArguments, Sendable {
  @Flag(
    name: .customLong("from-here"),
    help: "Change the version that is here, without asking relays for a newer one.")
  var fromHere = false
  @Flag(help: "Change it although a quarter of its entries or more is lost.")
  var yes = false
  @Flag(name: .customLong("no-wait"), help: "Do not wait for relays once it is accepted.")
  var isHasty = false
  @Option(
    help: ArgumentHelp("How long to wait for relays: 30s, 2m. 10s unless said.", valueName: "time"),
    transform: Timeout.init(reading:))
  var timeout: Timeout?
}

extension CommandSession {
  /// An entry as it is typed: a tag `NAME=VALUE` or a JSON list; what the list has most, alone: a person, a relay, a
  /// note, `#hashtag`, a word.
  func entry(_ text: String, of kind: UInt16) async throws(Refusal) -> [String] {
    if text.hasPrefix("[") { return try TagArgument.read(text) }
    if let parts = Self.named(text) { return [parts.name, try await value(parts.value, of: parts.name)] }
    switch kind {
    case EventKind.relayList: return ["r", text]
    case EventKind.blockedRelays, EventKind.searchRelays, EventKind.directMessageRelays, ListText.relaySets:
      return ["relay", text]
    case EventKind.mutes where text.hasPrefix("#"): return ["t", String(text.dropFirst())]
    case EventKind.mutes where text.hasPrefix("note1") || text.hasPrefix("nevent1"):
      return ["e", try TagArgument.value(text, ofTag: "e")]
    case ListText.bookmarks, ListText.pins: return ["e", try TagArgument.value(text, ofTag: "e")]
    default: return ["p", try await value(text, of: "p")]
    }
  }

  /// `NAME=VALUE`: a name has no other signs than letters, digits and hyphens; a URL has.
  private static func named(_ text: String) -> (name: String, value: String)? {
    guard let place = text.firstIndex(of: "=") else { return nil }
    let name = text[..<place]
    guard !name.isEmpty, name.utf8.allSatisfy({ $0 == 0x2D || $0 == 0x5F || isAlphanumeric($0) }) else { return nil }
    return (String(name), String(text[text.index(after: place)...]))
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  /// A person may also be typed as an account or as `name@domain`.
  private func value(_ text: String, of name: String) async throws(Refusal) -> String {
    guard name == "p" else { return try TagArgument.value(text, ofTag: name) }
    return "\(try await publicKey(text))"
  }
}
