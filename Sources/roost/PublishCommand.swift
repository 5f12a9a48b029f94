internal import ArgumentParser
internal import Bus
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient
internal import RoostOutput
internal import Signing

/// `roost publish`
struct Publish: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Publishes events: signs what is not signed, stores it, and sends it to relays.",
    discussion: """
      Either --content, with --kind and --tag as needed; or EVENT: JSON, @file, or - for standard input, where each line is \
      an event. What has a signature is published as it is; the signer signs the rest for --as, or for its one account. For a \
      locked one it waits up to 27 seconds for 'roost key unlock', and says so on standard error unless --json is given.

      Nothing with a secret key in it is signed or published, unless --allow-secrets says that it is meant.

      An event is verified and on disk when it is told as accepted; it is sent to the relays of its author's list and to \
      those of supervisor.conf, or to each --relay, for days if need be. What becomes of it is told for --timeout, and \
      later by 'roost queue'. With --local it is stored only.

        roost publish --content 'hello' --tag t=nostr
        roost publish '{"kind":7,"content":"+","tags":[["e","<id>"]]}' --as alice
        roost publish - <drafts.jsonl
        roost call signer.sign '{"event":{"kind":1,"content":"hello"}}' | roost publish -
      """)
  @Argument(help: ArgumentHelp("The event as JSON, - or @file.", valueName: "event"))
  var event: String?
  @Option(help: ArgumentHelp("What the new event says; - for standard input.", valueName: "text"))
  var content: String?
  @Option(
    help: ArgumentHelp("The new event's kind; 1, a note, unless given.", valueName: "number"),
    transform: KindArgument.read)
  var kind: UInt16?
  @Option(
    help: ArgumentHelp(
      "A tag of the new event: NAME=VALUE or a JSON list; several times. The value of p, e, q and a may be npub, note, naddr "
        + "and the like: it is written in hexadecimal digits.",
      valueName: "tag"))
  var tag: [String] = []
  @Option(name: .customLong("as"), help: ArgumentHelp("Who signs.", valueName: "account"))
  var account: String?
  @Flag(help: "Publish a text with nsec1… or ncryptsec1… in it: whoever reads it has the key.")
  var allowSecrets = false
  @OptionGroup var way: PublishWay
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    let isNew = content != nil || kind != nil || !tag.isEmpty
    guard isNew != (event != nil) else {
      throw ValidationError(isNew ? "Give an event, or --content and the like; not both." : "What is to be published?")
    }
    if isNew, content == nil { throw ValidationError("Give the --content too; it may be empty.") }
    if account?.lowercased().hasPrefix("nsec1") == true { throw ValidationError(secretAsArgument) }
    for tag in tag {
      do throws(Refusal) { _ = try TagArgument.read(tag) } catch { throw ValidationError("\(error.message).") }
    }
    if let event, event != "-", !event.hasPrefix("@"), !event.trimmedStart.hasPrefix("{") {
      throw ValidationError("That is no JSON object. To publish a text: roost publish --content '…'")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let publishing = Publishing(session, account, allowsSecrets: allowSecrets, way)
    if content != nil {
      let draft = try draft()
      try await session.client.connect()
      try await publishing.publish(json: JSONPayload.encode(draft))
    } else if event == "-" {
      let source = try LineSource("-")
      try await session.client.connect()
      while let line = try await source.next() {
        if source.number == 1 {
          try InputForm.check(line, name: source.name, isFile: false, rest: "roost publish -")
        }
        try await publishing.publish(line: line, source.number)
      }
    } else {
      let bytes = try InputBytes.read(event, isRaw: false, rest: "roost publish -")
      try await session.client.connect()
      try await publishing.publish(json: bytes)
    }
    return await publishing.finish()
  }

  /// The new event, as the signer takes it.
  private func draft() throws(Refusal) -> JSONValue {
    var tags: [JSONValue] = []
    for text in tag { tags.append(.array(try TagArgument.read(text).map { .string($0) })) }
    var text = content ?? ""
    if content == "-" {
      let bytes = try InputBytes.read("-", isRaw: true)
      guard let read = String(validating: bytes, as: UTF8.self) else {
        throw Refusal(.badRequest, "standard input is not UTF-8", outcome: .notStarted)
      }
      // The newline that ends a typed text is no part of it.
      text = read.hasSuffix("\n") ? String(read.dropLast()) : read
    }
    return .object([
      "kind": .integer(Int64(kind ?? EventKind.textNote)), "content": .string(text), "tags": .array(tags),
    ])
  }
}

extension String {
  /// Without white space in front.
  fileprivate var trimmedStart: Substring { drop { $0.isWhitespace } }
}

/// What became of one event that is stored only, for `--json`.
private struct StoreReport: Encodable {
  let id: String
  let note: String
  let nevent: String
  let seq: Int64?
  let isNew: Bool
  /// No relay has it, as far as is known here.
  let state = "optimistic"
  let line: Int?
}

/// One event of several that was refused, for `--json`.
private struct RefusedLine: Encodable {
  let line: Int
  let error: Refusal
}

/// Publishes one event after the other, and prints what became of each.
@EventLoopActor
private final class Publishing {
  private let session: CommandSession
  /// As typed.
  private let account: String?
  private let allowsSecrets: Bool
  /// Who signs; settled when the first draft comes.
  private var signerName: String?
  private let way: PublishWay
  private var publishedCount = 0
  /// Of the one event that is waited for.
  private var status = ExitStatus.done
  private var refusedCount = 0

  init(_ session: CommandSession, _ account: String?, allowsSecrets: Bool, _ way: PublishWay) {
    self.session = session
    self.account = account
    self.allowsSecrets = allowsSecrets
    self.way = way
  }

  /// Publishes an event, or the draft of one.
  func publish(json: [UInt8]) async throws(Refusal) { try await deliver(signed(json), line: nil) }

  /// Publishes the event of a line. One that is refused is told, and the next one has its turn; unless nobody is there
  /// to ask.
  func publish(line: ArraySlice<UInt8>, _ number: Int) async throws(Refusal) {
    guard line.contains(where: { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }) else { return }
    do throws(Refusal) { try await deliver(signed(Array(line)), line: number) } catch {
      guard !Self.endingCodes.contains(error.code) else { throw error }
      refusedCount += 1
      if session.isJSON {
        await session.output.writeLine(JSONPayload.encode(RefusedLine(line: number, error: error)))
      } else {
        let text = "line \(number): \(VisibleText.make(error.message)) (\(VisibleText.make(error.code.rawValue)))"
        await session.output.writeLines([session.style.paint(text, .warning)])
      }
    }
  }

  /// What the next line would hear, too.
  private static let endingCodes: Set<RefusalCode> = [
    .noSupervisor, .disconnected, .unavailable, .diskFull, .noSuchAccount, .locked, .rateLimited,
  ]

  private var now: Int64 { Int64(time(nil)) }

  /// The bytes of a signed event; of a draft, once it is signed.
  private func signed(_ json: [UInt8]) async throws(Refusal) -> [UInt8] {
    let text: JSONText
    do throws(JSONText.Problem) { text = try JSONText(json) } catch {
      throw Refusal(.badRequest, "that is not JSON: \(error)", outcome: .notStarted)
    }
    // What the signer answers is taken as it comes, with the event in it.
    if let node = text["event"], case .object = node { return try checked(text.compact(node)) }
    if text["sig"] != nil { return try checked(json) }
    if let flaw = JSONFlaw.first(in: json) { throw Refusal(.badRequest, "\(flaw)", outcome: .notStarted) }
    // The signer looks as well; but nobody is to type a passphrase for what is refused then.
    _ = try Draft(try JSONPayload.decode(JSONValue.self, from: json), named: "", allowsSecrets: allowsSecrets, now: now)
    return try await session.client.sign(json: json, as: signer(), allowSecrets: allowsSecrets).json
  }

  /// A signed event, unless there is a secret in it.
  private func checked(_ json: [UInt8]) throws(Refusal) -> [UInt8] {
    // What is no event is told by the client.
    let event = try? Event(json: json)
    if let event, let doubt = Draft.doubt(of: event.createdAt, now: now) {
      session.note("The event is published as it was signed, but its created_at \(doubt).")
    }
    if !allowsSecrets, let event,
      let secret = ([event.content] + event.tags.joined()).lazy.compactMap({ SpottedSecret(in: $0) }).first
    {
      throw Refusal(
        .badRequest, "the event holds \(secret), and would give it to everybody; --allow-secrets if that is meant",
        outcome: .notStarted)
    }
    return json
  }

  private func store(_ json: [UInt8]) async throws(Refusal) -> OwnEvent {
    try await session.waiting(for: "store.publish") { () async throws(Refusal) in
      try await session.client.store(json: json)
    }
  }

  /// Stores or publishes an event, and tells what becomes of it.
  private func deliver(_ json: [UInt8], line: Int?) async throws(Refusal) {
    if way.isLocal { return await tell(try await store(json), line: line) }
    let relays = try way.relays()
    let publication = try await session.waiting(for: "plan.publish") { () async throws(Refusal) in
      try await session.client.publish(json: json, to: relays)
    }
    publishedCount += 1
    let event: Event
    do throws(EventFault) { event = try Event(json: json) } catch { preconditionFailure("it is published: \(error)") }
    guard line != nil else {
      status = try await PublishProgress(session: session, event: event, patience: way.patience).tell(publication)
      return
    }
    if session.isJSON {
      return await session.output.writeLine(JSONPayload.encode(PublishReport(event, publication, line: line)))
    }
    let place = "accepted, for \(Amount.count(publication.targets.count, "relay"))"
    await session.output.writeLines(["\(event.id.note)  \(session.style.paint(place, .dim))"])
  }

  /// The account of `--as`, or the only one; a person is told the names to choose from, and that somebody has to unlock
  /// it.
  private func signer() async throws(Refusal) -> String {
    if let signerName { return signerName }
    let found = try session.account(account, among: try await session.accounts())
    signerName = found.name
    guard found.state == .locked, !session.isJSON else { return found.name }
    let patience = Amount.duration(milliseconds: RoostClient.lockedMilliseconds)
    session.note(
      "The account \(found.name) is locked; 'roost key unlock \(found.name)' in another terminal opens it. "
        + "Waiting for that, \(patience) at most.")
    return found.name
  }

  private func tell(_ published: OwnEvent, line: Int?) async {
    publishedCount += 1
    let event = published.event
    let nevent = EventPointer(id: event.id, author: event.pubkey, kind: event.kind).nevent
    if session.isJSON {
      let report = StoreReport(
        id: "\(event.id)", note: event.id.note, nevent: nevent, seq: published.seq, isNew: published.isNew, line: line)
      return await session.output.writeLine(JSONPayload.encode(report))
    }
    var place = published.seq.map { "stored as number \($0)" } ?? "passed on and not kept, being ephemeral"
    if published.isMended {
      place = published.seq.map { "there already, and mended: number \($0) was damaged" } ?? "mended"
    } else if !published.isNew {
      place = published.seq.map { "there already, as number \($0)" } ?? "known already"
    }
    let style = session.style
    if line != nil { return await session.output.writeLines(["\(event.id.note)  \(style.paint(place, .dim))"]) }
    await session.output.writeLines([
      "\(KindText.word(event.kind)) \(place)", style.paint("  " + event.id.note, .dim),
      style.paint("  " + nevent, .dim),
    ])
  }

  /// The last word, for people: where the events are, and where they are not.
  func finish() async -> ExitStatus {
    if !session.isJSON, publishedCount > 0, way.isLocal {
      await session.output.writeLines(["Stored only: no relay was sent it."])
    }
    if !session.isJSON, refusedCount > 0 {
      await session.output.writeLines([session.style.paint("\(Amount.count(refusedCount, "event")) refused.", .bad)])
    }
    return refusedCount > 0 ? .failed : status
  }
}
