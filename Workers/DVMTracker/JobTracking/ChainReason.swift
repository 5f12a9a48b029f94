internal import Contracts

// Why a job ended that needs the result of another one. In a chain, each job ends because the one before it did. If
// each reason repeated the one before, the last would be as long as the chain. So a reason names the job at which it
// began, and how many jobs are between.

/// The reason of a job that ended because one before it did: the end of a sentence, which can be parsed again.
struct ChainReason: Equatable {
  /// The job at which it began.
  var first: JobID
  /// How many jobs are between that job and this one.
  var betweenCount = 0
  /// The state in which that job ended.
  var state: Job.State
  /// Why that job ended; nil if it is not known.
  var cause: String?

  /// The reason of a job that needs `job`, which ended in this state.
  init(_ job: JobID, _ state: Job.State, _ cause: String?) {
    if let cause, let known = ChainReason(reading: cause) {
      self = known
      betweenCount += 1
    } else {
      (first, self.state, self.cause) = (job, state, cause)
    }
  }

  /// `the job 0123456789abcdef that it needs, 2 jobs further up, was cancelled: it was called off`
  var text: String {
    let distance = betweenCount == 0 ? "" : ", \(betweenCount + 1) jobs further up,"
    let verb = state == .cancelled ? "was" : "has"
    return "\(Self.start)\(first)\(Self.need)\(distance) \(verb) \(state.rawValue)\(cause.map { ": \($0)" } ?? "")"
  }

  private static let start = "the job "
  private static let need = " that it needs"

  /// Parses ``text``, also in the form of older ledgers, which repeat every link; nil for any other reason.
  init?(reading text: String) {
    var rest = text[...]
    var found: ChainReason?
    // The text after the last link is not a link. The loop ends, because each link has a length.
    while let link = Self.link(&rest) {
      found = ChainReason(link, between: (found?.betweenCount ?? -1) + 1)
    }
    guard var found else { return nil }
    found.cause = rest.isEmpty ? nil : String(rest)
    self = found
  }

  private init(_ link: Link, between count: Int) {
    (first, state) = (link.job, link.state)
    betweenCount = count + link.betweenCount
  }

  private struct Link {
    var job: JobID
    var state: Job.State
    var betweenCount: Int
  }

  /// Takes one link off the front, with the colon after it.
  private static func link(_ text: inout Substring) -> Link? {
    var rest = text
    guard take(start, off: &rest), let job = JobID(String(rest.prefix(16))) else { return nil }
    rest = rest.dropFirst(16)
    guard take(need, off: &rest) else { return nil }
    var between = 0
    if take(", ", off: &rest) {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      guard let distance = Int(digits), distance > 1, take(" jobs further up,", off: &rest) else { return nil }
      between = distance - 1
    }
    guard take(" was ", off: &rest) || take(" has ", off: &rest),
      let state = Job.State(rawValue: String(rest.prefix { $0 != ":" }))
    else { return nil }
    rest = rest.dropFirst(state.rawValue.count)
    _ = take(": ", off: &rest)
    text = rest
    return Link(job: job, state: state, betweenCount: between)
  }

  private static func take(_ word: String, off text: inout Substring) -> Bool {
    guard text.hasPrefix(word) else { return false }
    text = text.dropFirst(word.count)
    return true
  }
}
