import Addresses
import Bus
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import RelaySubscriptions
import WorkerKit

/// Asks the store what is covered at a relay. A store that cannot say so costs a repetition, and never an event: then
/// nothing counts as covered.
@EventLoopActor
final class CoverageReader {
  /// What is covered of some filters.
  struct Known {
    /// For each filter its parts.
    var parts: [[Drain.Known]]
    /// For each filter, when the relay last sent all that was wanted of it.
    var fetchedAt: [Int64?]
    /// What was checked longer ago than a day.
    var old: [OldCoverage] = []

    /// Nothing is covered.
    init(nothing parts: [[Filter]]) {
      self.parts = parts.map { $0.map { Drain.Known(filter: $0) } }
      fetchedAt = parts.map { _ in nil }
    }
  }

  private let bus: BusConnection
  private let log: Logger
  private var openCount = 0
  private let changed = Signal()

  /// The most questions at a time.
  private static let openMaximum = 8
  /// How long one answer may take, in milliseconds.
  private static let milliseconds: UInt32 = 10_000
  /// The most filters of one question.
  private static let filterMaximum = 8

  init(_ bus: BusConnection, log: Logger) { (self.bus, self.log) = (bus, log) }

  /// What is covered of these filters; `parts` are those of each.
  func known(of filters: [Filter], parts: [[Filter]], at relay: RelayURL) async -> Known {
    while openCount >= Self.openMaximum { _ = await changed.wait() }
    openCount += 1
    defer {
      openCount -= 1
      changed.raise()
    }
    var known = Known(nothing: parts)
    var isReadable = true
    do throws(Refusal) {
      let limited = filters.indices.filter { filters[$0].limit != nil && filters[$0].ids == nil }
      if !limited.isEmpty {
        try await ask(limited.map { filters[$0] }, at: relay, inParts: false) { answer in
          if limited.indices.contains(answer.filter) { known.fetchedAt[limited[answer.filter]] = answer.fetchedAt }
        }
      }
      for index in filters.indices where filters[index].ids == nil && filters[index].search == nil {
        var read: [Drain.Known] = []
        for start in stride(from: 0, to: parts[index].count, by: Self.filterMaximum) {
          let some = Array(parts[index][start..<min(start + Self.filterMaximum, parts[index].count)])
          try await ask(some, at: relay, inParts: true) { answer in
            guard let part = Self.part(of: answer) else {
              isReadable = false
              return
            }
            read.append(Drain.Known(filter: part, covered: answer.intervals.joinedSpans))
            known.old += OldCoverage.found(
              in: answer.intervals, of: part, within: filters[index], at: WallClock.seconds)
          }
        }
        if !read.isEmpty { known.parts[index] = read }
      }
      // A part that is missing here would never be asked for.
      guard isReadable else {
        log.error("the store's coverage cannot be read", metadata: ["relay": "\(relay)"])
        return Known(nothing: parts)
      }
    } catch {
      log.info("the store does not say what is covered", metadata: ["relay": "\(relay)", "why": "\(error.message)"])
      return Known(nothing: parts)
    }
    return known
  }

  private static func part(of answer: CoveredFilter) -> Filter? {
    guard let value = answer.part else { return nil }
    // `try?`: the caller reports it.
    return try? Filter(json: JSONPayload.encode(value))
  }

  private func ask(
    _ filters: [Filter], at relay: RelayURL, inParts: Bool, _ take: (CoveredFilter) -> Void
  ) async throws(Refusal) {
    let question = StoreCoverage(filters: [], relays: [relay.text], inParts: inParts ? true : nil)
    let answer = try await bus.ask(
      StoreMethod.coverage, encoded: BusPayload(json: question, filters: filters), ttlMilliseconds: Self.milliseconds)
    while let part = try await answer.nextPart() { take(part) }
  }
}

extension [CoveredFilter.Interval] {
  /// The seconds that they cover, whenever that was checked.
  fileprivate var joinedSpans: [ClosedRange<Int64>] {
    reduce(into: []) { spans, interval in
      guard interval.since <= interval.until else { return }
      if let last = spans.last, last.upperBound + 1 >= interval.since {
        spans[spans.count - 1] = last.lowerBound...Swift.max(last.upperBound, interval.until)
      } else {
        spans.append(interval.since...interval.until)
      }
    }
  }
}
