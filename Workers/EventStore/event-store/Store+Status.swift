import Bus
import EventArchive
import EventGate
import Frames
import Storage
import WorkerKit

// The line of `roost status`: what somebody should look after, as long as it is so; `roost doctor` says what to do.

extension Store {
  /// Sends the line if it has changed.
  func tellStatus() {
    let problems = problems
    let text = problems.isEmpty ? Amount.count(archive.eventCount, "event") : problems.joined(separator: "; ")
    // That there are more events is no news.
    guard text != lastStatus, !problems.isEmpty || !lastStatus.isEmpty else { return }
    lastStatus = problems.isEmpty ? "" : text
    worker.bus.sendStatus(StatusReport(text: text))
  }

  private var problems: [String] {
    var problems: [String] = []
    if let fault { problems.append(fault.description) }
    let losses = archive.losses
    if let rescue = losses.rescue {
      let lost = rescue.lostCount.map { "\($0)" } ?? "an unknown number"
      problems.append("was damaged: \(Amount.count(rescue.savedCount, "event")) saved, \(lost) lost")
    }
    if let seqs = losses.seqs { problems.append("lost seqs \(seqs.lowerBound) to \(seqs.upperBound)") }
    if losses.damagedCount > 0 {
      problems.append("\(Amount.count(losses.damagedCount, "event")) found damaged and removed")
    }
    if room == .exhausted { problems.append("above its size limit, nothing may be removed") }
    for conduct in gate.trust.worst(Self.distrustedMaximum) where conduct.isDistrusted {
      if let url = relays.url(of: conduct.relay) { problems.append("distrusts \(url)") }
    }
    return problems
  }

  /// Relays that the line names at most.
  private static let distrustedMaximum = 4
}
