internal import Contracts
public import EventLoop
public import Frames
internal import Glibc
public import Logging
public import Storage

// How workers with a ledger handle faults of their disk.
//
// A fault that may pass (a full disk, a file locked by another process) is logged once, however often it occurs, and
// its end is logged too; meanwhile entries wait, and the writer retries. Nothing more is written to a damaged file: the
// process ends, and the next start, which follows immediately, first saves what it can.

/// The health of a worker's ledger.
@EventLoopActor
public final class LedgerHealth {
  /// Why nothing can be written at present; nil when it can.
  public private(set) var fault: StorageFault?

  private let name: String
  private let log: Logger
  private let markDamaged: () -> Void

  /// Exit code for a file that was found damaged in use (EX_IOERR).
  private static let damagedExitCode: Int32 = 74
  /// When a caller may retry after its entry found the disk full.
  private static let fullMilliseconds: UInt32 = 5_000

  /// The health of a ledger without a fault.
  ///
  /// - Parameters:
  ///   - name: its name in the log, `the ledger of jobs`.
  ///   - log: the log for faults.
  ///   - markDamaged: makes the next start save what it can.
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

  /// Ends the process with code 74 when a fault, of writing or of reading, shows that the file is damaged.
  public func leaveIfDamaged(_ fault: StorageFault) {
    guard fault.kind == .corrupt else { return }
    markDamaged()
    log.critical("\(fault.description): starting again to save what can be read")
    exit(Self.damagedExitCode)
  }

  /// A fault as a refusal for a caller: `disk-full`, otherwise `failed`; nothing was done. Ends the process when the
  /// file is damaged.
  public func refusal(_ fault: StorageFault) -> Refusal {
    leaveIfDamaged(fault)
    let isFull = fault.kind == .full
    return Refusal(
      isFull ? .diskFull : .failed, fault.description, outcome: .notStarted,
      retryAfterMilliseconds: isFull ? Self.fullMilliseconds : nil)
  }
}
