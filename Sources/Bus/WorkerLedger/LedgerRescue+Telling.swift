public import Logging
public import Storage

extension LedgerRescue {
  /// Says in the log what became of a ledger.
  ///
  /// - Parameters:
  ///   - name: as it is called in the log, `the ledger of jobs`.
  ///   - effect: what follows from it, after "and"; nil: nothing but the loss.
  public func tell(_ name: String, _ log: Logger, effect: String? = nil) {
    let effect = effect.map { ", and \($0)" } ?? ""
    guard let quarantinePath else {
      log.error(
        "\(name) lacks commits: its log was damaged, or the file was removed, or replaced by an older one\(effect)",
        metadata: ["commits": "\(missingCommitCount)"])
      return
    }
    log.error(
      "\(name) was damaged: it was put aside, and a new one holds what could be read\(effect)",
      metadata: [
        "aside": "\(quarantinePath)", "what": "\(noun)", "saved": "\(savedCount)", "damaged": "\(damagedCount)",
        "lost": "\(lostText)", "why": "\(reason ?? "found damaged in use")",
      ])
  }
}
