public import Contracts
internal import Frames

/// The checks of the event store in `roost doctor`.
public enum StoreText {
  /// What needs a person's attention, each with what to do; one good check when there is nothing.
  public static func checks(_ status: StoreStatus) -> [DoctorResult.Check] {
    var problems: [String] = []
    if let fault = status.fault { problems.append(fault) }
    if let rescue = status.rescued {
      let lost = rescue.lost.map { Amount.count($0, "event") } ?? "an unknown number of events"
      problems.append(
        "the database was found damaged, \(CalendarTime.text(rescue.at)) UTC: \(Amount.count(rescue.saved, "event")) "
          + "saved, \(lost) lost. The damaged file is \(rescue.aside): once you no longer need it, remove it, and this "
          + "message ends")
    }
    if let lost = status.lost {
      problems.append(
        "what had seqs \(lost.first) to \(lost.last) is no longer in the database: its log was damaged, the power "
          + "was lost, or the file was removed or replaced. This is shown for a week")
    }
    if let count = status.damaged {
      problems.append(
        "\(Amount.count(count, "stored event")) were found damaged and removed: the disk or the memory errs. What a relay "
          + "or a file still has can come again. This is shown for a week")
    }
    if status.isFull == true {
      problems.append(
        "above its size limit (\(bytes(status.usedBytes)) of \(bytes(status.limitBytes ?? 0))), and nothing is left "
          + "that may be removed: raise size-limit, or take authors out of keep-authors")
    }
    guard problems.isEmpty else {
      return problems.map { DoctorResult.Check(name: "events", isGood: false, text: $0) }
    }
    let text = "\(Amount.count(status.events, "event")) in \(bytes(status.usedBytes)), none known to be lost"
    return [DoctorResult.Check(name: "events", isGood: true, text: text)]
  }

  private static func bytes(_ count: Int64) -> String { Amount.bytes(UInt64(clamping: count)) }
}
