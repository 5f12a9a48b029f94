internal import ArgumentParser
internal import Contracts
internal import Frames
internal import Nostr
internal import Rendering

// What the commands of `roost links` and `roost messages` have in common: who sends, how long it waits, and how posts
// and texts are typed.

/// Who sends a link or a message, and how long the command waits for relays.
struct LinkWay: ParsableArguments, Sendable {
  @Option(name: .customLong("as"), help: ArgumentHelp("Who sends.", valueName: "account"))
  var account = AccountWord.unnamed
  @Option(
    help: ArgumentHelp(
      "How long to wait for relays: 30 or 30s, 2m at most. \(LinksPost.waitMillisecondsDefault / 1_000) seconds unless said.",
      valueName: "seconds"),
    transform: LinkWay.read)
  var wait: Timeout?
  @Flag(name: .customLong("no-wait"), help: "Do not wait for relays once it is kept here.")
  var isHasty = false
  @Flag(
    name: .customLong("give-up"),
    help: "Call it off when the wait is over and no relay has it; what you typed is then printed on standard error.")
  var givesUp = false
  @Flag(help: "Send a text with nsec1… or ncryptsec1… in it: its reader has the key.")
  var allowSecrets = false

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if isHasty, wait != nil { throw ValidationError("Either --wait or --no-wait.") }
    if isHasty, givesUp { throw ValidationError("What is not waited for is not given up: --give-up needs a wait.") }
    if account.name?.lowercased().hasPrefix("nsec1") == true { throw ValidationError(secretAsArgument) }
  }

  /// In milliseconds.
  var waitMilliseconds: Int64 {
    isHasty ? 0 : wait.map { Int64($0.milliseconds) } ?? LinksPost.waitMillisecondsDefault
  }

  /// A time as typed; a number alone is seconds.
  @Sendable private static func read(_ text: String) throws -> Timeout {
    let isNumber = !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber }
    let time = try Timeout(reading: isNumber ? text + "s" : text)
    guard Int64(time.milliseconds) <= LinksPost.waitMillisecondsMaximum else {
      throw ValidationError("The wait is at most \(LinksPost.waitMillisecondsMaximum / 1_000) seconds.")
    }
    return time
  }

  /// Refuses a text that would give a secret key away.
  func check(_ text: String) throws(Refusal) {
    guard !allowSecrets, SpottedSecret(in: text) != nil else { return }
    throw Refusal(
      .badRequest, "there is a secret key in the text; --allow-secrets sends it all the same", outcome: .notStarted)
  }
}

/// Which entries of a conversation are shown.
struct LinkPaging: ParsableArguments, Sendable {
  @Option(
    help: ArgumentHelp("At most so many; \(LinksList.limitDefault) unless given.", valueName: "number"))
  var limit: Int?
  @Flag(help: "All of them.") var all = false
  @Flag(name: .customLong("keep-unread"), help: "Do not mark as read what is shown.")
  var keepsUnread = false

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if let limit, limit < 1 { throw ValidationError("The limit is at least 1.") }
    if all, limit != nil { throw ValidationError("Either --limit or --all.") }
  }

  /// The most entries; nil: all.
  var maximum: Int? { all ? nil : limit ?? LinksList.limitDefault }
}

/// A post or a message as it is typed.
enum LinkReference {
  /// Refuses what is no id, and no beginning of one.
  static func check(_ text: String) throws {
    do throws(Refusal) { _ = try id(text) } catch {
      throw ValidationError(
        "'\(text.prefix(80))' is no id: \(LinkRow.idDigitCount) hexadecimal digits, note1…, or the first "
          + "\(LinkRow.idDigitsMinimum) digits or more.")
    }
  }

  /// An id, or the first digits of one, as the worker takes it.
  static func id(_ text: String) throws(Refusal) -> String {
    let isBeginning =
      (LinkRow.idDigitsMinimum..<LinkRow.idDigitCount).contains(text.utf8.count)
      && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    return isBeginning ? text.lowercased() : "\(try PublicationArgument.eventID(text))"
  }
}

/// A text as it is typed.
struct TypedText {
  /// The text.
  let text: String
  /// Whether it came from standard input, and is in no shell's history.
  let isFromInput: Bool

  /// The words with blanks between them; `-` alone is standard input.
  init(_ words: [String]) throws(Refusal) {
    isFromInput = words == ["-"]
    text = try InputBytes.text(words.joined(separator: " "))
    if text.allSatisfy(\.isWhitespace) {
      throw Refusal(.badRequest, "the text is empty", outcome: .notStarted)
    }
  }

  /// A text of the command's own making.
  init(_ text: String, isFromInput: Bool) { (self.text, self.isFromInput) = (text, isFromInput) }
}
