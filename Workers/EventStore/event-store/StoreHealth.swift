import Clocks
import Contracts
import EventArchive
import EventLoop
import Frames
import Glibc
import Logging
import Storage

// When the database cannot be written, callers that wait are refused, and the next request is the next attempt. When it
// is damaged, this process ends, and the next one puts the file aside and saves what it can (`ArchiveRescue`).

/// Whether the event database can be read and written.
@EventLoopActor
final class StoreHealth {
  /// Why it cannot; nil when it can.
  private(set) var fault: StorageFault?
  /// Called when the fault has come, changed or gone.
  var onChange: (@EventLoopActor () -> Void)?

  private let archive: EventArchive
  private let log: Logger
  private var faultedAt = EventLoop.process.now

  /// After a failure, how long until chores are tried again, and a success counts as the end of the fault.
  static let retryMilliseconds: UInt64 = 2_000
  /// The file was found damaged in use: the next start, which is at once, saves what it can (EX_IOERR).
  private static let damagedExitCode: Int32 = 74
  /// When a caller may try again after the disk was full.
  private static let fullMilliseconds: UInt32 = 5_000

  init(_ archive: EventArchive, _ log: Logger) { (self.archive, self.log) = (archive, log) }

  /// A transaction was committed. On a disk that is nearly full some are and some are not: that is no recovery yet.
  func recovered() {
    guard fault != nil, EventLoop.process.now.milliseconds(since: faultedAt) >= Self.retryMilliseconds else { return }
    fault = nil
    log.notice("the event database can be written again")
    onChange?()
  }

  /// The database could not be read or written. Ends the process when it is damaged.
  func failed(_ fault: StorageFault) {
    if fault.kind == .corrupt {
      archive.markDamaged()
      log.critical("\(fault.description): starting again to save what can be read")
      exit(Self.damagedExitCode)
    }
    if self.fault?.kind != fault.kind { log.error("\(fault.description)") }
    self.fault = fault
    faultedAt = EventLoop.process.now
    onChange?()
  }

  /// A fault in a caller's words.
  func refusal(_ fault: StorageFault) -> Refusal {
    Refusal(
      fault.kind == .full ? .diskFull : .failed, fault.description, outcome: .notStarted,
      retryAfterMilliseconds: fault.kind == .full ? Self.fullMilliseconds : nil)
  }
}
