internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import Nostr
internal import RoostClient
internal import Rendering
internal import Wording

/// `roost queue replaced`
struct QueueReplaced: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "replaced",
    abstract: "Lists profiles and lists that lost entries to the version after them, or prints one of them.",
    discussion: """
      With ID the event is printed, as it was. With --draft it is printed without author, time and signature, to be \
      published as the newest version again:

        roost queue replaced ID --draft | roost publish --as alice --replace -
      """)
  @Argument(help: ArgumentHelp("The version: 64 hexadecimal digits, note1… or nevent1….", valueName: "id"))
  var id: String?
  @Flag(help: "Print what is to be signed again instead of the event.")
  var draft = false
  @Flag(help: "Forget this version; the doctor no longer mentions it.")
  var forget = false
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    if id == nil, draft || forget { throw ValidationError("Which one? 'roost queue replaced' lists them.") }
    if draft, forget { throw ValidationError("Give --draft or --forget, not both.") }
    do throws(Refusal) { _ = try eventID() } catch { throw ValidationError("\(error.message).") }
  }

  private func eventID() throws(Refusal) -> EventID? {
    guard let id else { return nil }
    var argument = PublicationArgument()
    argument.id = id
    return try argument.eventID()
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let found = try await session.client.replacedLists(eventID(), forgets: forget)
    if id != nil, !forget, let event = found.first?.event {
      await session.output.writeLine(JSONPayload.encode(draft ? Self.draft(event) : event))
    } else if session.isJSON {
      for list in found { await session.output.writeLine(JSONPayload.encode(list)) }
    } else {
      let lines = ReplacedText.lines(found, now: WallClock.seconds)
      await session.output.writeLines(forget ? ["Forgotten:"] + lines : lines)
    }
    return .done
  }

  private static func draft(_ event: JSONValue) -> JSONValue {
    .object(["kind": event["kind"] ?? .null, "tags": event["tags"] ?? .null, "content": event["content"] ?? .null])
  }
}
