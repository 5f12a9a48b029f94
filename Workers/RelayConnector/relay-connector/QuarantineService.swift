import Addresses
import EventLoop
import LinuxSystem
import Logging
import Nostr
import RelayQuarantine
import Synchronization

// Which relay's bytes are being processed, and how many strikes each relay has: an InFlightTable in a file of the
// worker's state directory, and the QuarantineList that is kept in it. Without a state directory, as when a person
// starts the worker by hand, no relay is watched.

/// The file. It is mapped before the process enters its sandbox, so the sandbox needs no right to it.
enum InFlightFile {
  private static let mapped = Mutex<MappedFile?>(nil)
  private static let reason = Mutex("")

  /// Maps the file in the worker's own directory.
  static func open(_ environment: [String: String]) {
    guard let state = environment["ROOST_STATE"], let name = environment["ROOST_WORKER"], !state.isEmpty else { return }
    do throws(SystemFault) {
      let directory = state + "/" + name
      try PrivateDirectory.ensure(directory)
      let file = try MappedFile(path: directory + "/in-hand", byteCount: InFlightTable.byteCount)
      mapped.withLock { $0 = file }
    } catch {
      reason.withLock { $0 = error.description }
    }
  }

  /// The file, or nil without one; and the reason, if it could not be mapped.
  static var file: (MappedFile?, complaint: String) { (mapped.withLock { $0 }, reason.withLock { $0 }) }
}

/// Watches a connector's relays.
@EventLoopActor
final class QuarantineService {
  private let file: MappedFile?
  private var table: InFlightTable?
  private var book: QuarantineList
  private let log: Logger

  /// Reads what the previous process left. If that process died while a relay's bytes were in flight, the relay gets a
  /// strike.
  init(log: Logger) {
    self.log = log
    let (file, complaint) = InFlightFile.file
    self.file = file
    if !complaint.isEmpty { log.warning("no relay is watched for bytes that kill", metadata: ["why": "\(complaint)"]) }
    table = file.map { InFlightTable($0.bytes) }
    book = QuarantineList(strikes: table?.remains.strikes ?? [:])
    let known = book.relays
    book.expire(at: WallClock.seconds)
    if let relay = table?.remains.relayInHand { strike(relay) }
    for relay in known { keep(relay) }
  }

  private func strike(_ relay: String) {
    let now = WallClock.seconds
    book.struck(relay, at: now)
    keep(relay)
    log.warning(
      "the process before died with bytes of a relay in hand",
      metadata: ["relay": "\(relay)", "strikes": "\(book.strikes(of: relay).count)"])
    guard let quarantine = book.quarantine(of: relay, at: now) else { return }
    log.error("quarantined", metadata: ["relay": "\(relay)", "why": "\(quarantine.reason)"])
  }

  private func keep(_ relay: String) {
    table?.keep(book.strikes(of: relay), of: relay)
    if book.strikes(of: relay).isEmpty { table?.leave(relay) }
  }

  /// The mark to set while bytes of this relay are processed; nil when the relay is not watched.
  func mark(for url: RelayURL) -> InputMark? {
    guard let number = table?.enter(url.text), let place = table?.mark else { return nil }
    return InputMark(at: place, number: number)
  }

  /// The connector is done with the relay.
  func leave(_ url: RelayURL) { table?.leave(url.text) }

  /// The quarantine of the relay; nil when it may be dialled.
  func quarantine(of url: RelayURL) -> QuarantineList.Quarantine? {
    book.quarantine(of: url.text, at: WallClock.seconds)
  }

  /// Whether the relay has strikes; only then is ``handled(_:)`` of use.
  func hasStrikes(_ url: RelayURL) -> Bool { !book.strikes(of: url.text).isEmpty }

  /// A message of the relay was processed.
  func handled(_ url: RelayURL) {
    guard book.handled(url.text, at: EventLoop.process.now) else { return }
    table?.keep(book.strikes(of: url.text), of: url.text)
    log.info("a strike is forgotten", metadata: ["relay": "\(url)", "left": "\(book.strikes(of: url.text).count)"])
  }

  /// A caller of `relay.retry` wants the relay tried again now.
  func forgive(_ url: RelayURL) {
    book.forgive(url.text)
    table?.keep([], of: url.text)
  }
}

extension QuarantineList.Quarantine {
  /// The reason, as the end of a sentence.
  var reason: String {
    "\(strikeCount) times within an hour the connector died with its bytes in hand; it is not dialled for "
      + "\(max(1, secondsLeft / 60)) min, or until relay.retry"
  }
}
