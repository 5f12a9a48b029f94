internal import Bus
internal import Clocks
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import JSON
internal import LinuxSystem
internal import Nostr
internal import NostrContracts
internal import RoostClient
internal import Rendering
internal import Wording

/// The outcome of one event that is only stored, for `--json`.
private struct StoreReport: Encodable {
  let id: String
  let note: String
  let nevent: String
  let seq: Int64?
  let isNew: Bool
  /// It is stored and sent nowhere.
  let state = "stored"
  let line: Int?
}

/// One event of several that was refused, for `--json`.
private struct RefusedLine: Encodable {
  let line: Int
  /// The event, if it was handed over and its outcome is unknown.
  let id: String?
  let note: String?
  let error: Refusal
}

/// Publishes one event after the other, and prints the outcome of each.
@EventLoopActor
final class PublishRun {
  private let session: CommandSession
  /// As typed.
  private let account: String?
  private let allowsSecrets: Bool
  private let replaces: Bool
  /// The account that signs; chosen when the first draft comes.
  private var signerName: String?
  private let way: PublishWay
  private var publishedCount = 0
  /// The exit status of the one event that is waited for.
  private var status = ExitStatus.done
  private var refusedCount = 0
  /// How many events were stored before.
  private var knownCount = 0
  /// The event that was handed over to a worker and has no answer yet.
  private var handedOver: EventID?
  /// Whether Ctrl-C was pressed while an event was handed over: the process ends once the event's outcome is known.
  private var isLeaving = false
  /// The end of the time that `--timeout` gives the current event.
  private var deadline: Instant?

  /// How long the planner may take, when the user leaves, to say whether an event is queued, in milliseconds.
  private static let lookMilliseconds: UInt32 = 1_000

  init(_ session: CommandSession, _ account: String?, allowsSecrets: Bool, replaces: Bool, _ way: PublishWay) {
    self.session = session
    self.account = account
    self.allowsSecrets = allowsSecrets
    self.replaces = replaces
    self.way = way
  }

  /// Publishes an event, or the draft of one.
  func publish(json: [UInt8]) async throws(Refusal) {
    try begin()
    try await deliver(signed(json), line: nil)
  }

  private func begin() throws(Refusal) {
    // Ctrl-C, and a message at the end, no longer concern the event before.
    if session.subject != nil { try session.onInterrupt(.interrupted) {} }
    session.subject = nil
    deadline = way.timeout.map { EventLoop.process.now.advanced(milliseconds: UInt64($0.milliseconds)) }
    handedOver = nil
  }

  /// The rest of `--timeout`, at least 1 ms; nil if it was not given.
  private var left: UInt32? {
    guard let deadline else { return nil }
    let now = EventLoop.process.now
    return now < deadline ? UInt32(clamping: max(1, deadline.milliseconds(since: now))) : 1
  }

  /// Publishes the event of a line. A refusal is reported and the next line follows, unless every further line would be
  /// refused too.
  func publish(line: ArraySlice<UInt8>, _ number: Int) async throws(Refusal) {
    guard line.contains(where: { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }) else { return }
    try begin()
    do throws(Refusal) { try await deliver(signed(Array(line)), line: number) } catch {
      guard !Self.endingCodes.contains(error.code) else { throw error }
      refusedCount += 1
      let unknown = error.outcome == .unknown ? handedOver : nil
      if session.isJSON {
        await session.output.writeLine(
          JSONPayload.encode(RefusedLine(line: number, id: unknown?.description, note: unknown?.note, error: error)))
      } else {
        let text = "line \(number): \(VisibleText.make(error.message)) (\(VisibleText.make(error.code.rawValue)))"
        await session.output.writeLines([session.style.paint(text, .warning)])
      }
    }
  }

  /// Codes that the next line would get, too.
  private static let endingCodes: Set<RefusalCode> = [
    .noSupervisor, .disconnected, .unavailable, .diskFull, .noSuchAccount, .locked, .rateLimited,
  ]

  private var now: Int64 { WallClock.seconds }

  /// The bytes of a signed event; of a draft, once it is signed.
  private func signed(_ json: [UInt8]) async throws(Refusal) -> [UInt8] {
    let text: JSONText
    do throws(JSONFault) { text = try JSONText(json) } catch {
      throw Refusal(.badRequest, "that is not JSON: \(error)", outcome: .notStarted)
    }
    // The signer's answer, which contains the event, is accepted unchanged.
    if let node = text["event"], case .object = node { return try checked(text.compact(node)) }
    if text["sig"] != nil { return try checked(json) }
    if let flaw = JSONFlaw.first(in: json) { throw Refusal(.badRequest, "\(flaw)", outcome: .notStarted) }
    // The signer checks this too, but the user should not type a passphrase for a draft that is then refused.
    let draft = try Draft(json: json, named: "", allowsSecrets: allowsSecrets, now: now)
    if let objection = draft.objectionToPublishing { throw Refusal(.badRequest, objection, outcome: .notStarted) }
    let signer = try await signer()
    do throws(Refusal) {
      return try await session.client.sign(
        json: json, as: signer, allowSecrets: allowsSecrets, timeoutMilliseconds: left
      ).json
    } catch {
      // An event that may have been signed was sent nowhere.
      var refusal = error
      if refusal.outcome == .unknown { refusal.outcome = .notStarted }
      throw refusal
    }
  }

  /// A signed event; refused if it contains a secret.
  private func checked(_ json: [UInt8]) throws(Refusal) -> [UInt8] {
    // `try?`: the client reports what is wrong with it.
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
    try await handingOver(json, StoreMethod.publish.declaration) { () async throws(Refusal) in
      try await self.session.client.store(json: json, timeoutMilliseconds: self.left)
    }
  }

  /// Requests something for an event. Ctrl-C does not undo the request, but reports what becomes of the event.
  private func handingOver<Answer>(
    _ json: [UInt8], _ method: MethodDeclaration, _ body: () async throws(Refusal) -> Answer
  ) async throws(Refusal) -> Answer {
    // The client refuses what is not an event.
    guard let event = try? Event(json: json) else { return try await body() }  // As above.
    handedOver = event.id
    try session.onFirstInterrupt { [self] in EventLoopActor.task { await self.leaveInterrupted(event) } }
    do throws(Refusal) {
      let answer = try await session.waiting(
        for: method, needing: way.isLocal ? [] : [Role.eventStore.name],
        otherwise: "the event \(event.id.note) is handed over, and not accepted yet", body)
      // `leaveInterrupted` reports the outcome; no other event is handed over.
      if isLeaving { await EventLoopActor.sleep(milliseconds: UInt64(2 * Self.lookMilliseconds)) }
      session.subject = nil
      handedOver = nil
      try session.onInterrupt(.interrupted) {}
      return answer
    } catch {
      session.subject = event.id
      let look = way.isLocal ? "roost export --filter '{\"ids\":[\"\(event.id)\"]}'" : nil
      throw PublicationText.unknown(error, of: event.id.note, look: look)
    }
  }

  /// Reports what becomes of an event that is handed over and not accepted yet, and ends the program.
  private func leaveInterrupted(_ event: Event) async {
    let note = event.id.note
    isLeaving = true
    session.display.interrupted()
    if way.isLocal {
      session.leave(
        Refusal(.cancelled, "the event \(note) may be stored; it is sent to no relay", outcome: .unknown),
        of: event.id, status: .interrupted)
    }
    // `try?`: a planner that does not answer is no reason to stay.
    let found = try? await session.client.publications(
      ids: [event.id], limit: 1, timeoutMilliseconds: Self.lookMilliseconds)
    if session.isJSON, let publication = found?.first {
      await session.output.writeLine(JSONPayload.encode(PublishReport(event, publication, line: nil)))
    } else if session.isJSON {
      session.leave(
        Refusal(.cancelled, PublicationText.interrupted(note, nil), outcome: .unknown), of: event.id,
        status: .interrupted)
    } else {
      session.note(PublicationText.interrupted(note, found?.first), .warning)
    }
    session.leave(.interrupted)
  }

  /// Refuses to store what the planner refuses to publish: a profile that no client can read, and a list that lacks
  /// entries of the stored version, which it would replace. Entries that are only at relays stay there.
  private func checkVersion(_ json: [UInt8]) async throws(Refusal) {
    let event: Event
    do throws(EventFault) { event = try Event(json: json) } catch { return }  // The store says what is wrong with it.
    if let flaw = ListEntries.flaw(ofProfile: event) { throw Refusal(.invalidEvent, flaw, outcome: .notStarted) }
    guard !replaces, ListEntries.areLists(ofKind: event.kind) else { return }
    let stored = try await session.client.query(ListEntries.versions(of: event), limit: 1).first
    guard let loss = ListEntries.loss(from: stored, to: event) else { return }
    throw Refusal(
      .wouldReplace, "\(loss.sentence); --replace does it, and with --local the version before is not kept",
      outcome: .notStarted)
  }

  /// Stores or publishes an event, and reports what becomes of it.
  private func deliver(_ json: [UInt8], line: Int?) async throws(Refusal) {
    if way.isLocal {
      try await checkVersion(json)
      return await tell(try await store(json), line: line)
    }
    let relays = try way.relays()
    let publication = try await handingOver(json, PlanMethod.publish.declaration) { () async throws(Refusal) in
      try await self.session.client.publish(
        json: json, to: relays, replaces: self.replaces, timeoutMilliseconds: self.left)
    }
    publishedCount += 1
    for remark in publication.remarks ?? [] { session.note("The event is published, but \(remark).") }
    let event: Event
    do throws(EventFault) { event = try Event(json: json) } catch { preconditionFailure("it is published: \(error)") }
    guard line != nil else {
      let patience = way.isHasty ? nil : left.map(Timeout.init(milliseconds:)) ?? PublishWay.patience
      status = try await PublishProgress(session: session, event: event, patience: patience).tell(publication)
      return
    }
    if session.isJSON {
      return await session.output.writeLine(JSONPayload.encode(PublishReport(event, publication, line: line)))
    }
    let place = "accepted, for \(Amount.count(publication.targets.count, "relay"))"
    await session.output.writeLines(["\(event.id.note)  \(session.style.paint(place, .dim))"])
  }

  /// The account of `--as`, or the only one. A person gets the names to choose from, and a note that a locked account
  /// must be unlocked.
  private func signer() async throws(Refusal) -> String {
    if let signerName { return signerName }
    let found = try session.account(account, among: try await session.accounts())
    signerName = found.name
    guard found.awaitsPassphrase, !session.isJSON else { return found.name }
    let patience = Amount.duration(
      milliseconds: left.map { RoostClient.lockedMilliseconds(within: $0) } ?? RoostClient.lockedMilliseconds)
    session.note(
      "The account \(found.name) is locked; 'roost key unlock \(found.name)' in another terminal opens it. "
        + "Waiting for that, \(patience) at most.")
    return found.name
  }

  private func tell(_ published: OwnEvent, line: Int?) async {
    publishedCount += 1
    if !published.isNew { knownCount += 1 }
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
    if !published.isNew { await session.output.writeLines([await formerly(event.id)]) }
  }

  /// A line about an event that was stored before this command stored it.
  private func formerly(_ id: EventID) async -> String {
    // `try?`: without a planner nothing is known of it.
    let found = try? await session.client.publications(
      ids: [id], limit: 1, timeoutMilliseconds: Self.lookMilliseconds)
    guard let publication = found?.first else { return "Stored before; no relay is sent it now." }
    return "Published before, \(PublicationText.summary(publication)): roost queue show \(id)"
  }

  /// Prints the last lines, for people: where the events are, and where they are not.
  func finish() async -> ExitStatus {
    if !session.isJSON, publishedCount > 0, way.isLocal, publishedCount > 1 || knownCount == 0 {
      let text =
        knownCount == 0
        ? "Stored only: no relay was sent it."
        : "Stored only; what was published before is in 'roost queue', and no relay is sent anything now."
      await session.output.writeLines([text])
    }
    if !session.isJSON, refusedCount > 0 {
      await session.output.writeLines([session.style.paint("\(Amount.count(refusedCount, "event")) refused.", .bad)])
    }
    return refusedCount > 0 ? .failed : status
  }
}
