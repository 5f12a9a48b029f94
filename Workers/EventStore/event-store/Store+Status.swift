import Bus
import Contracts
import EventArchive
import EventGate
import Frames
import Glibc
import Storage
import WorkerKit

/// The line of `roost status`: what an operator should look after, as long as it is so; `roost doctor` says what to do.
struct StatusLine {
  /// The problems that the last line named.
  private var last = ""

  /// The line to send; nil when it would say nothing new. A higher number of events is not new.
  mutating func next(_ problems: [String], eventCount: Int64) -> String? {
    let text = problems.joined(separator: "; ")
    guard text != last else { return nil }
    last = text
    return problems.isEmpty ? Amount.count(eventCount, "event") : text
  }
}

extension Store {
  /// Sends the status line if it has changed.
  func tellStatus() {
    guard let text = statusLine.next(problems, eventCount: archive.eventCount) else { return }
    worker.bus.sendStatus(StatusReport(text: text))
  }

  private var problems: [String] {
    var problems: [String] = []
    if let fault = health.fault { problems.append(fault.description) }
    let losses = archive.losses
    if let rescue = losses.rescue {
      let lost = rescue.lostCount.map { "\($0)" } ?? "an unknown number"
      problems.append("was damaged: \(Amount.count(rescue.savedCount, "event")) saved, \(lost) lost")
    }
    if let seqs = losses.seqs { problems.append("lost seqs \(seqs.lowerBound) to \(seqs.upperBound)") }
    if losses.damagedCount > 0 {
      problems.append("\(Amount.count(losses.damagedCount, "event")) found damaged and removed")
    }
    if chores.room == .exhausted { problems.append("above its size limit, nothing may be removed") }
    for conduct in gate.trust.worst(Self.distrustedMaximum) where conduct.isDistrusted {
      if let url = relays.url(of: conduct.relay) { problems.append("distrusts \(url)") }
    }
    return problems
  }

  /// Most relays that the line names.
  private static let distrustedMaximum = 4

  /// The answer to `store.status`.
  var status: StoreStatus {
    var status = StoreStatus()
    status.events = archive.eventCount
    status.seq = archive.lastSeq
    let losses = archive.losses
    status.lost = losses.seqs.map { StoreStatus.SeqRange($0) }
    status.damaged = losses.damagedCount > 0 ? losses.damagedCount : nil
    status.rescued = losses.rescue.map { rescue in
      StoreStatus.Rescue(
        at: rescue.time, saved: rescue.savedCount, lost: rescue.lostCount, aside: rescue.quarantinePath)
    }
    status.path = archive.path
    status.bytes = ["", "-wal"].reduce(0) { $0 + Self.byteCount(archive.path + $1) }
    status.verified = gate.counters.verified
    status.duplicates = gate.counters.duplicates
    status.invalid = gate.counters.invalid
    status.transactions = chores.schedule.transactionCount
    status.waiting = gate.waiting
    status.usedBytes = archive.usedByteCount
    status.limitBytes = chores.schedule.retention.byteLimit
    status.foreignBytes = archive.foreignByteCount > 0 ? archive.foreignByteCount : nil
    status.evicted = chores.schedule.evictedCount
    status.isFull = chores.room == .exhausted ? true : nil
    status.unsearched = archive.lastSeq - archive.searchedSeq
    status.observers = observers.count
    status.unchecked = gate.counters.unchecked
    status.relays = gate.trust.worst(StoreStatus.relayMaximum).compactMap { conduct in
      relays.url(of: conduct.relay).map {
        StoreStatus.Relay(
          relay: $0, forged: conduct.forged, valid: conduct.valid, isDistrusted: conduct.isDistrusted)
      }
    }
    status.fault = health.fault?.description
    return status
  }

  private static func byteCount(_ path: String) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }
}
