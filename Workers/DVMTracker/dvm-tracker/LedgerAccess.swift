import Contracts
import EventLoop
import Frames
import JobLedger
import JobTracking
import LinuxSystem
import Logging
import Storage
import WorkerKit
import WorkerLedger

/// Reads and writes the ledger of jobs, and lets callers wait until their words are written.
@EventLoopActor
final class LedgerAccess {
  let health: LedgerHealth
  /// Called with each job that the ledger keeps no longer.
  var onForgotten: (@EventLoopActor (KeptJob) -> Void)?

  private let ledger: JobLedger
  private let worker: Worker
  private let log: Logger
  /// Raised when a batch is written, or could not be.
  private let batchEnded = Signal()
  /// Callers that wait until a job is accepted.
  private var acceptances: [JobID: [CheckedContinuation<StorageFault?, Never>]] = [:]
  private let sweepTimer = LoopTimer()

  private static let name = "the ledger of jobs"
  /// The ledger's file in the worker's directory.
  private static let fileName = "jobs.db"
  /// How often jobs are removed that need not be kept longer.
  private static let sweepMilliseconds: UInt64 = 3_600_000

  /// Opens the ledger in `directory`.
  ///
  /// - Returns: the ledger, and its contents.
  /// - Throws: `unavailable` when waiting may help.
  static func open(
    _ worker: Worker, _ directory: String, _ log: Logger
  ) throws(Refusal) -> (LedgerAccess, JobLedgerContents) {
    do throws(StorageFault) {
      var (ledger, contents, rescue) = try JobLedger.openOrRescue(
        path: directory + "/" + fileName, now: WallClock.milliseconds)
      rescue?.tell(name, log)
      let forgotten = try ForgettingNote(in: directory).settle { account throws(StorageFault) in
        let count = try ledger.forgetNow(account)
        contents = try ledger.contentsNow(now: WallClock.milliseconds)
        return [AccountForgotten.Part("jobs", count)]
      }
      let access = LedgerAccess(ledger, worker, log)
      worker.serveForgetting(in: directory, forgotten, of: ledger.file) { account throws(StorageFault) in
        try await ledger.count(of: account)
      }
      return (access, contents)
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
  }

  private init(_ ledger: JobLedger, _ worker: Worker, _ log: Logger) {
    (self.ledger, self.worker, self.log) = (ledger, worker, log)
    health = LedgerHealth(Self.name, log) { [ledger] in ledger.markDamaged() }
  }

  /// Reads.
  ///
  /// - Throws: why the ledger cannot be read, in the caller's words.
  func read<Value: Sendable>(
    _ body: @EventLoopActor (JobLedger) async throws(StorageFault) -> Value
  ) async throws(Refusal) -> Value {
    do throws(StorageFault) { return try await body(ledger) } catch { throw health.refusal(error) }
  }

  // MARK: Writing

  /// Writes a batch in one transaction.
  ///
  /// - Parameter done: called when it is written; with the fault when it could not be.
  func write(_ batch: JobBatch, then done: @escaping @EventLoopActor (StorageFault?) -> Void) {
    EventLoopActor.task { [self] in
      var fault: StorageFault?
      do throws(StorageFault) {
        try await ledger.write(batch)
        health.written()
      } catch {
        health.notWritten(error)
        fault = error
      }
      done(fault)
      for waiter in batch.accepted.flatMap({ acceptances.removeValue(forKey: $0.id) ?? [] }) {
        waiter.resume(returning: fault)
      }
      batchEnded.raise()
    }
  }

  /// Waits until the batch that has a new job is written.
  ///
  /// - Throws: why it could not be.
  func awaitAcceptance(of id: JobID) async throws(Refusal) {
    let fault = await withCheckedContinuation { acceptances[id, default: []].append($0) }
    if let fault { throw health.refusal(fault) }
  }

  /// Waits until the next batch is written, or could not be.
  func awaitBatch() async { _ = await batchEnded.wait() }

  // MARK: Life

  /// Removes jobs that need not be kept longer, now and then.
  func sweep() {
    sweepTimer.set(afterMilliseconds: Self.sweepMilliseconds) { [unowned self] in sweep() }
    EventLoopActor.task { [self] in
      do throws(StorageFault) {
        var gone: [KeptJob]
        repeat {
          gone = try await ledger.sweep(now: WallClock.milliseconds)
          for job in gone { onForgotten?(job) }
        } while gone.count == JobLedger.sweepCount && !worker.isDraining
      } catch { health.leaveIfDamaged(error) }
    }
  }

  /// Removes no more jobs.
  func endSweeping() { sweepTimer.cancel() }

  /// Closes the file.
  func close() {
    do throws(StorageFault) { try ledger.close() } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
  }
}
