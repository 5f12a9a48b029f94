public import Contracts
internal import Frames
internal import Wording

/// What `roost events` prints for one event: time, worker, old and new state, and why. If the state did not change, it
/// is printed once.
public enum WorkerEventLine {
  /// The line.
  public static func line(_ event: SupervisorEvent, _ style: Style) -> String {
    let worker = VisibleText.make(event.worker)
    let state = VisibleText.make(event.to.rawValue)
    let change = event.from == event.to ? state : "\(VisibleText.make(event.from.rawValue)) → \(state)"
    let workerBlanks = String(repeating: " ", count: max(0, 14 - DisplayWidth.of(worker)))
    let changeBlanks = String(repeating: " ", count: max(0, 22 - DisplayWidth.of(change)))
    let sentence = event.sentence.isEmpty ? "" : "  \(VisibleText.make(event.sentence))"
    return style.paint(LogLines.shortTime(event.time), .dim) + "  \(worker)\(workerBlanks)  "
      + style.paint(change, StateTone.of(event.to)) + (sentence.isEmpty ? "" : changeBlanks + sentence)
  }

  /// The line that is printed where events are missing.
  public static func gap(dropped: UInt64?, _ style: Style) -> String {
    let text =
      dropped.map { "\(Amount.count($0, "event")) missed here: this reader did not keep up" }
      ?? "the supervisor was away; what happened meanwhile is missing here"
    return style.paint("-- \(text)", .warning)
  }
}
