internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient
internal import RoostOutput

/// Where `roost publish` has events sent, and how long it waits for that.
struct PublishWay: ParsableArguments, Sendable {
  @Option(help: ArgumentHelp("To this relay and no others; several times.", valueName: "url"))
  var relay: [String] = []
  @Flag(name: .customLong("local"), help: "Only store it: it is sent to no relay.")
  var isLocal = false
  @Flag(name: .customLong("no-wait"), help: "Do not wait for relays once it is accepted.")
  var isHasty = false
  @Option(
    help: ArgumentHelp("How long to wait for relays: 30s, 2m.", valueName: "time"), transform: Timeout.init(reading:))
  var timeout = Timeout(milliseconds: 10_000)

  func validate() throws {
    if isLocal, !relay.isEmpty { throw ValidationError("What is stored only goes to no --relay.") }
    do throws(Refusal) { _ = try relays() } catch { throw ValidationError("\(error.message).") }
  }

  /// How long it is waited; nil: not at all.
  var patience: Timeout? { isHasty ? nil : timeout }

  /// The relays that are named; nil when none is.
  func relays() throws(Refusal) -> [RelayURL]? {
    var relays: [RelayURL] = []
    for text in relay {
      do throws(RelayURLFault) { relays.append(try RelayURL(text)) } catch {
        throw Refusal(.badRequest, "\(error)", outcome: .notStarted)
      }
    }
    return relays.isEmpty ? nil : relays
  }
}

/// What became of one event, for `--json`: when it is accepted, and at each change while it is waited for.
struct PublishReport: Encodable {
  let id: String
  let note: String
  let nevent: String
  let state: Publication.State
  let line: Int?
  let expiresAt: Int64
  let targets: [PublicationTarget]

  init(_ event: Event, _ publication: Publication, line: Int?) {
    id = publication.id
    note = event.id.note
    nevent = EventPointer(id: event.id, author: event.pubkey, kind: event.kind).nevent
    state = publication.state
    self.line = line
    expiresAt = publication.expiresAt
    targets = publication.targets
  }
}

/// Tells of an accepted event until all its relays have taken or refused it, or for as long as somebody waits.
@EventLoopActor
final class PublishProgress {
  private let session: CommandSession
  private let event: Event
  private let patience: Timeout?
  private var news = PublicationNews()

  /// - Parameter patience: how long it is waited; nil: not at all.
  init(session: CommandSession, event: Event, patience: Timeout?) {
    self.session = session
    self.event = event
    self.patience = patience
  }

  /// Prints what is told, and waits.
  func tell(_ accepted: Publication) async throws(Refusal) -> ExitStatus {
    await tell(accepted, isFirst: true)
    guard let patience, !accepted.state.isFinal else { return await end(accepted) }
    // Whoever stops waiting leaves the event where it is: in the queue.
    let watch = EventLoopActor.task { [self] () -> Result<Publication, Refusal> in
      var seen = accepted
      do throws(Refusal) {
        for try await publication in session.client.progress(of: event.id) {
          await tell(publication, isFirst: false)
          seen = publication
        }
      } catch { return .failure(error) }
      return .success(seen)
    }
    let timer = LoopTimer()
    timer.set(afterMilliseconds: UInt64(patience.milliseconds)) { watch.cancel() }
    let last = try await watch.value.get()
    timer.cancel()
    return await end(last)
  }

  private func tell(_ publication: Publication, isFirst: Bool) async {
    if session.isJSON {
      return await session.output.writeLine(JSONPayload.encode(PublishReport(event, publication, line: nil)))
    }
    var lines: [String] = []
    if isFirst {
      let relays = Amount.count(publication.targets.count, "relay")
      lines.append("\(KindText.word(event.kind)) accepted, for \(relays)")
      lines.append(session.style.paint("  " + event.id.note, .dim))
    }
    lines += news.lines(publication, session.style).map { "  " + $0 }
    await session.output.writeLines(lines)
  }

  private func end(_ publication: Publication) async -> ExitStatus {
    let isLost = publication.state == .failed || publication.state == .cancelled
    guard !session.isJSON else { return isLost ? .failed : .done }
    switch publication.state {
    case .confirmed: await session.output.writeLines([PublicationText.summary(publication) + "."])
    case .failed, .cancelled:
      await session.output.writeLines([
        session.style.paint("No relay has it", .bad) + "; once more: roost queue retry \(publication.id)"
      ])
    case .optimistic, .partial:
      await session.output.writeLines([
        "Accepted; \(PublicationText.summary(publication)) so far: roost queue show \(publication.id)"
      ])
    }
    return isLost ? .failed : .done
  }
}
