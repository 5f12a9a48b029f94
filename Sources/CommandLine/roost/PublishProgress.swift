internal import Contracts
internal import EventLoop
internal import Frames
internal import Nostr
internal import RoostClient
internal import Rendering

/// The outcome of one event, for `--json`: one object, written when the command waits for nothing more.
struct PublishReport: Encodable {
  let id: String
  let note: String
  let nevent: String
  let state: Publication.State
  let line: Int?
  let expiresAt: Int64
  let targets: [PublicationTarget]
  let remarks: [String]?

  init(_ event: Event, _ publication: Publication, line: Int?) {
    id = publication.id
    note = event.id.note
    nevent = EventPointer(id: event.id, author: event.pubkey, kind: event.kind).nevent
    state = publication.state
    self.line = line
    expiresAt = publication.expiresAt
    targets = publication.targets
    remarks = publication.remarks
  }
}

/// Reports on an accepted event until all its relays have accepted or refused it, or until the wait is over.
@EventLoopActor
final class PublishProgress {
  private let session: CommandSession
  private let event: Event
  private let patience: Timeout?
  private var news = PublicationNews()

  /// - Parameter patience: how long to wait; nil: not at all.
  init(session: CommandSession, event: Event, patience: Timeout?) {
    self.session = session
    self.event = event
    self.patience = patience
  }

  /// Prints the reports, and waits.
  func tell(_ accepted: Publication) async throws(Refusal) -> ExitStatus {
    // Ctrl-C ends the wait, and what becomes of the event is still printed: with --json that is the only report on it.
    var isInterrupted = false
    var watch: Task<(seen: Publication, refusal: Refusal?), Never>?
    try session.onFirstInterrupt {
      isInterrupted = true
      watch?.cancel()
    }
    await tell(accepted, isFirst: true)
    guard let patience, !accepted.state.isFinal else { return await end(accepted) }
    // The end of the wait leaves the event in the queue.
    let watching = EventLoopActor.task { [self] () -> (seen: Publication, refusal: Refusal?) in
      var seen = accepted
      do throws(Refusal) {
        for try await publication in session.client.progress(of: event.id) {
          await tell(publication, isFirst: false)
          seen = publication
        }
      } catch { return (seen, error) }
      return (seen, nil)
    }
    watch = watching
    if isInterrupted { watching.cancel() }
    let timer = LoopTimer()
    timer.set(afterMilliseconds: UInt64(patience.milliseconds)) { watching.cancel() }
    let last = await watching.value
    timer.cancel()
    if let refusal = last.refusal {
      if session.isJSON { _ = await end(last.seen) }
      throw refusal
    }
    guard isInterrupted else { return await end(last.seen) }
    if session.isJSON || last.seen.state.isFinal {
      _ = await end(last.seen)
    } else {
      session.display.interrupted()
      session.note(PublicationText.interrupted(event.id.note, last.seen), .warning)
    }
    return .interrupted
  }

  private func tell(_ publication: Publication, isFirst: Bool) async {
    if session.isJSON { return }
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
    if session.isJSON {
      await session.output.writeLine(JSONPayload.encode(PublishReport(event, publication, line: nil)))
      return isLost ? .failed : .done
    }
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
