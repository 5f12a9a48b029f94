import Addresses
import Bus
import Contracts
import EventLoop
import Frames
import Nostr
import WorkerKit

/// One `relay.follow`: first the whole state, then the changes. They are gathered while the caller takes no part.
@EventLoopActor
final class Follower {
  private let request: BusRequest
  private unowned let connector: Connector
  private var relays: Set<RelayURL> = []
  private var requests: Set<String> = []
  private var isStateNew = true
  private var isWhole = true
  private var isOver = false
  private var waiter: CheckedContinuation<Void, Never>?

  /// The most interests, and the most relays, of one part, so that it fits the smallest frame.
  private static let partMaximum = 128

  init(_ request: BusRequest, of connector: Connector) {
    self.request = request
    self.connector = connector
    relays = connector.urls
    requests = Set(connector.wishes.taken.keys)
  }

  /// Reports until the caller cancels; then calls `onEnd`.
  func begin(_ onEnd: @escaping @EventLoopActor () -> Void) {
    request.onCancel = { [self] in
      isOver = true
      request.refuse(Refusal(.cancelled, "cancelled by the caller", outcome: .done))
      wake()
    }
    EventLoopActor.task { [self] in
      await tell()
      onEnd()
    }
  }

  func changed(_ relay: RelayURL) {
    relays.insert(relay)
    wake()
  }

  func changed(_ key: String) {
    requests.insert(key)
    wake()
  }

  /// The interests have another version, or the setting for other relays has changed.
  func changed() {
    isStateNew = true
    wake()
  }

  /// The connector drains.
  func finish() {
    guard !isOver else { return }
    isOver = true
    request.onCancel = nil
    request.refuse(Refusal(.unavailable, "\(connector.worker.name) is finishing", outcome: .done))
    wake()
  }

  private func tell() async {
    while !isOver {
      if relays.isEmpty, requests.isEmpty, !isStateNew {
        await withCheckedContinuation { waiter = $0 }
        continue
      }
      do throws(Refusal) { try await request.send(next(), of: RelayMethod.follow) } catch {
        // If the caller has cancelled, or its bus has ended, this does nothing. Any other caller sees the error and
        // follows again.
        request.refuse(error)
        return
      }
    }
  }

  private func next() -> RelayReport {
    var report = RelayReport(isWhole: isWhole)
    isWhole = false
    isStateNew = false
    report.dialsOthers = connector.settings.ephemeral
    report.generation = connector.wishes.state?.generation
    report.version = connector.wishes.state?.version
    let urls = relays.prefix(Self.partMaximum).sorted { $0.text < $1.text }
    report.relays = urls.map(connector.state)
    relays.subtract(urls)
    for key in requests.prefix(Self.partMaximum).sorted() {
      requests.remove(key)
      if let told = connector.report(key) { report.requests.append(told) }
    }
    return report
  }

  private func wake() {
    waiter?.resume()
    waiter = nil
  }
}
