internal import Contracts
public import EventLoop
public import Frames
internal import Glibc
public import Logging
public import Storage

// What the workers that own a ledger have in common when its disk fails them.
//
// A fault that passes (a full disk, a file that another holds) is told once, however often it comes, and its end as
// well; meanwhile what must be written waits, and is tried again by whoever writes. To a damaged file nothing more is
// written: the process ends, and the next start, which is at once, saves what it can before it does anything else.

/// How the ledger of a worker is doing.
@EventLoopActor
public final class LedgerHealth {
  /// Why nothing can be written at present, if so.
  public private(set) var fault: StorageFault?

  private let name: String
  private let log: Logger
  private let markDamaged: () -> Void

  /// The file was found damaged in use (EX_IOERR).
  private static let damagedExitCode: Int32 = 74
  /// When a caller may come again whose word found the disk full.
  private static let fullMilliseconds: UInt32 = 5_000

  /// A ledger that is well.
  ///
  /// - Parameters:
  ///   - name: as it is called in the log, `the ledger of jobs`.
  ///   - log: where faults are told.
  ///   - markDamaged: has the next start save what it can.
  public init(_ name: String, _ log: Logger, markDamaged: @escaping () -> Void) {
    self.name = name
    self.log = log
    self.markDamaged = markDamaged
  }

  /// Something was written.
  public func written() {
    guard fault != nil else { return }
    fault = nil
    log.notice("\(name) can be written again")
  }

  /// Something could not be written. Ends the process when the file is damaged.
  public func notWritten(_ fault: StorageFault) {
    leaveIfDamaged(fault)
    if self.fault?.kind != fault.kind { log.error("\(fault.description)") }
    self.fault = fault
  }

  /// Ends the process with code 74 when a fault, of writing or of reading, says that the file is damaged.
  public func leaveIfDamaged(_ fault: StorageFault) {
    guard fault.kind == .corrupt else { return }
    markDamaged()
    log.critical("\(fault.description): starting again to save what can be read")
    exit(Self.damagedExitCode)
  }

  /// A fault in a caller's words: `disk-full`, else `failed`; nothing was done. Ends the process when the file is
  /// damaged.
  public func refusal(_ fault: StorageFault) -> Refusal {
    leaveIfDamaged(fault)
    let isFull = fault.kind == .full
    return Refusal(
      isFull ? .diskFull : .failed, fault.description, outcome: .notStarted,
      retryAfterMilliseconds: isFull ? Self.fullMilliseconds : nil)
  }
}
