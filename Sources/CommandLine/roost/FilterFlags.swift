internal import ArgumentParser
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import Nostr
internal import RoostClient
internal import Rendering
internal import Wording

/// Filters as they are typed: NIP-01's JSON, and flags for common conditions.
struct FilterFlags: ParsableArguments, Sendable {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Only this kind, as a number; may be given several times.", valueName: "number"),
    transform: KindArgument.read)
  var kind: [UInt16] = []
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Only of this author: npub, nprofile, 64 hexadecimal digits, an account's name or name@domain (NIP-05); "
        + "several times.",
      valueName: "key"))
  var author: [String] = []
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Only this event: an id, note1… or nevent1…; several times.", valueName: "id"))
  var id: [String] = []
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Only with this tag, as in t=nostr or p=npub1…; several times.", valueName: "letter=value"))
  var tag: [String] = []
  @Option(name: .customShort("e"), help: ArgumentHelp("Only what refers to this event: --tag e=ID.", valueName: "id"))
  var referredEvent: [String] = []
  @Option(name: .customShort("p"), help: ArgumentHelp("Only what names this person: --tag p=KEY.", valueName: "key"))
  var namedPerson: [String] = []
  @Option(name: .customShort("d"), help: ArgumentHelp("Only with this identifier: --tag d=TEXT.", valueName: "text"))
  var identifier: [String] = []
  @Option(help: ArgumentHelp("Only with these words in it (NIP-50).", valueName: "words"))
  var search: String?
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Not before: 2025-11-21, 2025-11-21T12:30, 3h (ago), or seconds since 1970.", valueName: "time"),
    transform: TypedTime.init(reading:))
  var since: TypedTime?
  @Option(
    name: .shortAndLong, help: ArgumentHelp("Not after, written in the same way.", valueName: "time"),
    transform: TypedTime.init(reading:))
  var until: TypedTime?

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    for tag in tags { _ = try Self.condition(tag) }
    for text in id { _ = try Self.eventID(text) }
    if let search { try Self.validate(search: search) }
  }

  /// Whether none was given.
  var isEmpty: Bool {
    kind.isEmpty && author.isEmpty && id.isEmpty && tags.isEmpty && search == nil && since == nil && until == nil
  }

  /// All tags, in the long form.
  private var tags: [String] {
    tag + referredEvent.map { "e=\($0)" } + namedPerson.map { "p=\($0)" } + identifier.map { "d=\($0)" }
  }

  /// The filters of these texts, each narrowed by the flags; without texts, a filter of the flags alone.
  @EventLoopActor
  func filters(_ texts: [String], limit: Int? = nil, in session: CommandSession) async throws(Refusal) -> [Filter] {
    var filters: [Filter] = []
    for text in texts { filters.append(try Self.read(text)) }
    if filters.isEmpty { filters = [Filter()] }
    var authors: [PublicKey] = []
    for text in author { authors.append(try await session.publicKey(text)) }
    for index in filters.indices {
      try Self.set(&filters[index].kinds, kind.isEmpty ? nil : kind, "--kind")
      try Self.set(&filters[index].authors, authors.isEmpty ? nil : authors, "--author")
      // `try?`: they were validated.
      try Self.set(&filters[index].ids, id.isEmpty ? nil : id.compactMap { try? Self.eventID($0) }, "--id")
      try Self.set(&filters[index].search, search, "--search")
      try Self.set(&filters[index].since, since?.seconds, "--since")
      try Self.set(&filters[index].until, until?.seconds, "--until")
      try Self.set(&filters[index].limit, limit, "--limit")
      for text in tags {
        // `try?`: it was validated.
        guard let (letter, typed) = try? Self.condition(text) else { continue }
        let value = TagValue(try await session.tagValue(typed.description, ofTag: letter.description))
        filters[index].tags[letter, default: []].append(value)
      }
    }
    return filters
  }

  private static func set<Value>(_ field: inout Value?, _ value: Value?, _ flag: String) throws(Refusal) {
    guard let value else { return }
    guard field == nil else {
      throw Refusal(.badRequest, "\(flag) and the filter both say it; say it once", outcome: .notStarted)
    }
    field = value
  }

  /// Reads one filter.
  static func read(_ text: String) throws(Refusal) -> Filter {
    do throws(FilterFault) { return try filter(text) } catch {
      throw Refusal(.badRequest, "\(error)", outcome: .notStarted)
    }
  }

  private static func filter(_ text: String) throws(FilterFault) -> Filter {
    let filter = try Filter(json: Array(text.utf8))
    try filter.checkReferences()
    return filter
  }

  /// Refuses text that is not a filter, and a search that cannot find anything: the store would answer it with nothing,
  /// and the user would not know why.
  static func validate(_ texts: [String]) throws {
    for text in texts {
      if let flag = flag(for: text) { throw ValidationError("A filter is JSON. To ask for that: \(flag).") }
      let filter: Filter
      do throws(FilterFault) { filter = try Self.filter(text) } catch { throw ValidationError("\(error)") }
      if let search = filter.search { try validate(search: search) }
    }
  }

  /// The flag for what people type in place of a filter; nil for anything else.
  private static func flag(for text: String) -> String? {
    if text.hasPrefix("ws://") || text.hasPrefix("wss://") { return "--relay URL" }
    guard KeyArgument.looksLikeEntity(text) else { return nil }
    return text.contains("npub1") || text.contains("nprofile1") ? "--author KEY, or -p KEY" : "--id ID, or -e ID"
  }

  private static func validate(search: String) throws {
    guard SearchQuery(search).isImpossible else { return }
    throw ValidationError(
      "The search '\(search)' has no word that could be found. A word is made of letters and digits, at most "
        + "\(SearchWords.wordByteCountMaximum) bytes, or is one symbol such as ⚡.")
  }

  private static func eventID(_ text: String) throws -> EventID {
    do throws(EntityFault) { return try EventID(spelled: text) } catch {
      let shown = SpottedSecret.redacted(String(text.prefix(shownLengthMaximum)))
      throw ValidationError("'\(shown)' is no event: \(error).")
    }
  }

  /// The most characters of a wrong value that are repeated.
  private static let shownLengthMaximum = 100

  private static func condition(_ text: String) throws -> (TagLetter, TagValue) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let letter = TagLetter(String(parts[0])) else {
      throw ValidationError("A tag is a letter, = and its value, as in t=nostr; other tags cannot be asked for.")
    }
    do throws(Refusal) {
      return (letter, TagValue(try TagArgument.value(String(parts[1]), ofTag: String(parts[0]))))
    } catch {
      throw ValidationError("\(error.message).")
    }
  }
}

/// A point in time as it is typed.
struct TypedTime: Sendable {
  /// Seconds since 1970.
  var seconds: Int64

  /// - Throws: the forms that are possible.
  init(reading text: String) throws {
    guard let seconds = CalendarTime.seconds(reading: text, now: WallClock.seconds) else {
      throw ValidationError("A time is 2025-11-21, 2025-11-21T12:30 (UTC), 3h or 2d (ago), or seconds since 1970.")
    }
    self.seconds = seconds
  }
}

/// A kind as it is typed.
enum KindArgument {
  @Sendable static func read(_ text: String) throws -> UInt16 {
    guard let kind = UInt16(text) else { throw ValidationError("A kind is a whole number from 0 to 65535.") }
    return kind
  }
}

/// A tag as it is typed.
enum TagArgument {
  /// `t=nostr`, or a JSON list of texts for a tag with more values.
  static func read(_ text: String) throws(Refusal) -> [String] {
    if text.hasPrefix("[") {
      var tag = try JSONPayload.decode([String].self, from: text.utf8)
      guard let name = tag.first else {
        throw Refusal(.badRequest, "a tag has a name at least", outcome: .notStarted)
      }
      if tag.count > 1 { tag[1] = try value(tag[1], ofTag: name) }
      return tag
    }
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw Refusal(
        .badRequest, "a tag is NAME=VALUE, or a JSON list such as [\"e\",\"<id>\",\"\",\"root\"]", outcome: .notStarted)
    }
    return [parts[0], try value(parts[1], ofTag: parts[0])]
  }

  /// The value as events contain it: keys and ids in hexadecimal digits, where the user typed `npub1…`, `note1…` or the
  /// like. A tag that refers to nothing may have any value. A name (NIP-05) for a key stays as it is:
  /// ``CommandSession/tagValue(_:ofTag:)`` looks it up.
  static func value(_ text: String, ofTag name: String) throws(Refusal) -> String {
    guard let reference = TagReference(tagName: name), !KeyArgument.isName(text, for: reference) else { return text }
    do throws(EntityFault) { return try reference.value(spelled: text) } catch {
      if case .secret = error { throw Refusal(.badRequest, "the tag \(name) has a secret key", outcome: .notStarted) }
      let shown = SpottedSecret.redacted(String(text.prefix(shownLengthMaximum)))
      let isEntity = text.contains("1") && !text.allSatisfy(\.isHexDigit)
      throw Refusal(
        .badRequest,
        "the tag \(name) needs \(reference.form), not '\(shown)'"
          + (isEntity ? ": \(error)" : ", with \(text.utf8.count) characters"), outcome: .notStarted)
    }
  }

  /// The maximum number of letters of a wrong value that a refusal repeats.
  private static let shownLengthMaximum = 100
}
