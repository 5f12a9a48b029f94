internal import Bus
internal import Contracts
internal import EventLoop
public import Frames
public import Logging

// After a start, what a worker's ledger promises is given to the event store once more, whatever the ledger believes of
// it. The two are two files: one may come back from a loss of power, a full disk or a backup without what the other
// knows of. What the store has it knows by the id, so this costs a look-up for each event, run by run beside all
// else. Nobody waits for it.

extension Worker {
  /// Most events of one run.
  private static let offerCountMaximum = 64
  /// Most bytes of one run, or half of what a frame may have; a larger event is alone in one.
  private static let offerByteMaximum = 256 << 10
  /// How long the store has for a run.
  private static let offerMilliseconds: UInt32 = 30_000

  /// Offers events to the store again, in order, until there are none or the worker is told to finish. While the store
  /// is away it is waited for; what the store has reasons not to take is left alone.
  ///
  /// - Parameters:
  ///   - what: whose events these are, for the log: "publications".
  ///   - ceilingMilliseconds: the longest wait for a store that is away.
  ///   - log: where it is told what the store had not, and had lost.
  ///   - next: gives one event after the other, JSON; nil when there are no more. What it throws is tried again: the
  ///     next call must give the event that this one could not give.
  public func offerAgain(
    _ what: String, ceilingMilliseconds: UInt64, _ log: Logger,
    next: @escaping @EventLoopActor () async throws(Refusal) -> [UInt8]?
  ) {
    let byteMaximum = min(Self.offerByteMaximum, Int(bus.welcome.frameLimit) / 2)
    // What a failed attempt leaves, for the next.
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
          // No later attempt would end otherwise: an event is larger than a frame may be by now.
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

  /// Offers one run. Returns how many events the store had not.
  private func offer(_ run: [UInt8]) async throws(Refusal) -> Int {
    let answer = try await bus.request(
      StoreMethod.offer, OfferedEvents(run), ttlMilliseconds: Self.offerMilliseconds)
    do throws(OfferRun.Problem) {
      return try OfferOutcome.read(answer.bytes).count { if case .stored = $0 { true } else { false } }
    } catch { throw Refusal(.badPayload, error.description) }
  }
}
