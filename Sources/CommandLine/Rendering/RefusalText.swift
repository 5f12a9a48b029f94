public import Frames
internal import Wording

/// A refusal as a person reads it, and as an exit code.
public enum RefusalText {
  /// The message as one sentence for a person who is asked again: `That is no key.`
  public static func sentence(_ refusal: Refusal) -> String {
    let text = VisibleText.make(refusal.message.split(separator: "\n").joined(separator: " "))
    return text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
  }

  /// `roost: no worker 'x' …` and, in brackets, the code, the outcome and when to try again.
  public static func lines(_ refusal: Refusal, _ style: Style) -> [String] {
    var facts = [VisibleText.make(refusal.code.rawValue)]
    switch refusal.outcome {
    case .notStarted: facts.append("nothing was done")
    case .unknown: facts.append("whether it was done is not known")
    case .done: facts.append("it was done")
    case nil: break
    }
    if let wait = refusal.retryAfterMilliseconds {
      facts.append("try again in \(Amount.duration(milliseconds: UInt64(wait)))")
    }
    let indent = String(repeating: " ", count: "roost: ".count)
    let message = refusal.message.split(separator: "\n").flatMap { line in
      DisplayWidth.wrap(VisibleText.make(line), to: style.columns - indent.count)
    }
    return [style.paint("roost: ", .bad) + (message.first ?? "")] + message.dropFirst().map { indent + $0 }
      + [style.paint("\(indent)(\(facts.joined(separator: "; ")))", .dim)]
  }
}

extension Refusal {
  /// The same refusal of a command that only reads: whether it was carried out makes no difference.
  public var ofReading: Refusal {
    var refusal = self
    if outcome == .unknown { refusal.outcome = nil }
    return refusal
  }
}

/// The exit codes of `roost`. Scripts rely on them; they never change.
public enum ExitStatus: Int32, Sendable {
  /// It was done.
  case done = 0
  /// It was refused, or it failed.
  case failed = 1
  /// The command line makes no sense.
  case usage = 2
  /// No supervisor answers.
  case noSupervisor = 3
  /// It is not allowed.
  case notPermitted = 4
  /// It was not done in time.
  case timedOut = 5
  /// Ctrl-C, with the exit code that shells use.
  case interrupted = 130

  /// The exit code for a refusal.
  public init(_ refusal: Refusal) {
    switch refusal.code {
    case "no-supervisor", "disconnected": self = .noSupervisor
    case .denied, .notPermitted, .badToken, "no-access": self = .notPermitted
    case .expired, .tooSlow, "timed-out": self = .timedOut
    default: self = .failed
    }
  }
}
