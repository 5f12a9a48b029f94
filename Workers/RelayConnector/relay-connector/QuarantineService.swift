import Addresses
import EventLoop
import LinuxSystem
import Logging
import Nostr
import RelayQuarantine
import Synchronization

// Who has whose bytes in hand, and who has struck how often: a InFlightTable in a file of the worker's state directory,
// and the book that is kept in it. Without a state directory, as when started by hand, nobody is watched.

/// The file, which is mapped before the sandbox is entered and needs no right in it.
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

  /// The file; nil if there is none, and why, if something was wrong.
  static var file: (MappedFile?, complaint: String) { (mapped.withLock { $0 }, reason.withLock { $0 }) }
}

/// The watch over a connector's relays.
@EventLoopActor
final class QuarantineService {
  private let file: MappedFile?
  private var table: InFlightTable?
  private var book: QuarantineList
  private let log: Logger

  /// Reads what the process before has left: if it died with a relay's bytes in hand, that is a strike.
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

  /// What to note while bytes of this relay are worked on; nil when it is not watched.
  func mark(for url: RelayURL) -> InputMark? {
    guard let number = table?.enter(url.text), let place = table?.mark else { return nil }
    return InputMark(at: place, number: number)
  }

  /// The relay is not spoken to any more.
  func leave(_ url: RelayURL) { table?.leave(url.text) }

  /// Why the relay is not to be dialled; nil when it may be.
  func quarantine(of url: RelayURL) -> QuarantineList.Quarantine? {
    book.quarantine(of: url.text, at: WallClock.seconds)
  }

  /// Whether the relay has strikes, so that ``handled(_:)`` is of use.
  func hasStrikes(_ url: RelayURL) -> Bool { !book.strikes(of: url.text).isEmpty }

  /// A message of the relay was handled.
  func handled(_ url: RelayURL) {
    guard book.handled(url.text, at: EventLoop.process.now) else { return }
    table?.keep(book.strikes(of: url.text), of: url.text)
    log.info("a strike is forgotten", metadata: ["relay": "\(url)", "left": "\(book.strikes(of: url.text).count)"])
  }

  /// Somebody wants the relay tried nevertheless.
  func forgive(_ url: RelayURL) {
    book.forgive(url.text)
    table?.keep([], of: url.text)
  }
}

extension QuarantineList.Quarantine {
  /// A sentence's end.
  var reason: String {
    "\(strikeCount) times within an hour the connector died with its bytes in hand; it is not dialled for "
      + "\(max(1, secondsLeft / 60)) min, or until relay.retry"
  }
}
