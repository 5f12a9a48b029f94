public import Logging
public import Storage

extension LedgerRescue {
  /// Logs the rescue of a ledger.
  ///
  /// - Parameters:
  ///   - name: its name in the log, `the ledger of jobs`.
  ///   - effect: the consequence, after "and"; nil when there is only the loss.
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
