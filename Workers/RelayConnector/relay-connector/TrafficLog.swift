import Bus
import Contracts
import EventLoop
import Frames
import Logging
import Nostr
import RelaySession
import WorkerKit

/// Writes the messages from and to one relay to the log, each with the trace of the request that it belongs to.
/// Nothing is read or kept while no category of traffic is wanted.
@EventLoopActor
struct TrafficLog {
  /// The trace of the request that is sent next.
  var next: UInt64?
  private var traces = TrafficTraces()

  private static let logs = Dictionary(
    uniqueKeysWithValues: TrafficCategory.allCases.map { ($0, Logger(label: $0.rawValue)) })
  /// Whether any category is wanted: otherwise messages are not read for it.
  private static var isWanted: Bool {
    TrafficCategory.allCases.contains { LogLevels.isDebugWanted(in: $0.rawValue) }
  }

  nonisolated init() {}

  mutating func sent(_ bytes: [UInt8], to link: RelayLink, _ owner: any RelayLinkOwner) {
    guard Self.isWanted else { return }
    let line = bytes.withUnsafeBytes { TrafficLine(sent: $0) }
    let work = line.kind == .publish ? line.event.flatMap { owner.trace(ofPublish: $0, at: link) } : next
    next = nil
    write(line, "sent", bytes.count, link, traces.sent(line, for: work))
  }

  mutating func received(
    _ message: RelayMessage, _ bytes: UnsafeRawBufferPointer, from link: RelayLink, _ owner: any RelayLinkOwner
  ) {
    guard Self.isWanted else { return }
    let line = TrafficLine(received: message, in: bytes)
    let work = line.kind == .publish ? line.event.flatMap { owner.trace(ofPublish: $0, at: link) } : nil
    write(line, "received", bytes.count, link, traces.received(line, for: work))
  }

  private func write(_ line: TrafficLine, _ way: String, _ byteCount: Int, _ link: RelayLink, _ trace: UInt64?) {
    guard let category = TrafficCategory(rawValue: "traffic-" + line.kind.rawValue) else { return }
    var fields: Logger.Metadata = ["relay": "\(link.url)", "bytes": "\(byteCount)"]
    // An empty field is left out: the running task may work for another request than the message is for.
    fields[LogRecord.traceField] = "\(trace.flatMap { RequestTrace(rawValue: $0)?.description } ?? "")"
    Self.logs[category]?.debug("\(way) \(line.text)", metadata: fields)
  }
}
