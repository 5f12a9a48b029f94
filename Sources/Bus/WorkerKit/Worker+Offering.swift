internal import Bus
internal import Contracts
internal import EventLoop
public import Frames
public import Logging

// After a start, a worker offers the events of its ledger to the event store again, whether or not the ledger believes
// that the store has them. The two are separate files: after a power failure, with a full disk or from a backup, one
// may lack what the other has. The store finds events by id, so this costs one look-up for each event, in runs between
// other work. No caller waits for it.

extension Worker {
  /// The maximum number of events in one run.
  private static let offerCountMaximum = 64
  /// The maximum size of one run, in bytes, unless half of a frame is less; a larger event is alone in a run.
  private static let offerByteMaximum = 256 << 10
  /// The time limit of the store for a run.
  private static let offerMilliseconds: UInt32 = 30_000

  /// Offers events to the store again, in order, until there are no more or the worker must finish. It waits for a
  /// store that is away; events that the store refuses are skipped.
  ///
  /// - Parameters:
  ///   - what: what these events are, for the log: "publications".
  ///   - ceilingMilliseconds: the longest wait for a store that is away.
  ///   - log: the log for events that the store did not have.
  ///   - next: returns the next event as JSON; nil when there are no more. When it throws, it is called again, and must
  ///     then return the event that this call could not return.
  public func offerAgain(
    _ what: String, ceilingMilliseconds: UInt64, _ log: Logger,
    next: @escaping @EventLoopActor () async throws(Refusal) -> [UInt8]?
  ) {
    let byteMaximum = min(Self.offerByteMaximum, Int(bus.welcome.frameLimit) / 2)
    // What a failed attempt leaves for the next one.
    var (run, count): ([UInt8], Int) = ([], 0)
    var held: [UInt8]?
    var returnedCount = 0
    persist("offering \(what) again", ceilingMilliseconds: ceilingMilliseconds, log) { () async throws(Refusal) in
      while !self.isDraining {
        while count < Self.offerCountMaximum {
          var event = held
          if event == nil { event = try await next() }
          held = event
          guard let event, count == 0 || run.count + OfferRun.headerByteCount + event.count <= byteMaximum else {
            break
          }
          OfferRun.append(event, to: &run)
          count += 1
          held = nil
        }
        guard count > 0 else { break }
        do throws(Refusal) { returnedCount += try await self.offer(run) } catch {
          // Otherwise no later attempt would succeed: an event is now larger than a frame may be.
          guard [.badRequest, .badPayload, .denied].contains(error.code) else { throw error }
          log.warning("some of the \(what) cannot be offered", metadata: ["events": "\(count)", "why": "\(error)"])
        }
        (run, count) = ([], 0)
      }
      if returnedCount > 0 {
        log.warning(
          "the event store had lost some of the \(what), and has them again", metadata: ["events": "\(returnedCount)"])
      }
      return true
    }
  }

  /// Offers one run. Returns the number of events that the store did not have.
  private func offer(_ run: [UInt8]) async throws(Refusal) -> Int {
    let answer = try await bus.request(
      StoreMethod.offer, OfferedEvents(run), ttlMilliseconds: Self.offerMilliseconds)
    do throws(OfferRun.Problem) {
      return try OfferOutcome.read(answer.bytes).count { if case .stored = $0 { true } else { false } }
    } catch { throw Refusal(.badPayload, error.description) }
  }
}
