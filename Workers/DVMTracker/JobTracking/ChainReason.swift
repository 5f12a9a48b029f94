internal import Contracts

// Why a job ended that needs the result of another one. In a chain each ends with the one before it; said from link to
// link, the reason of the last would be as long as the chain. So it names the job at which it began, and how many are
// between.

/// That a job ended because one before it did: the end of a sentence, and read again from it.
struct ChainReason: Equatable {
  /// At which it began.
  var first: JobID
  /// How many jobs between that one and this.
  var betweenCount = 0
  /// What became of that one.
  var state: Job.State
  /// Why; nil when nobody said.
  var cause: String?

  /// The reason of a job that needs `job`, which ended so.
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

  /// Reads what ``text`` says, also from ledgers in which it stands from link to link; nil for any other reason.
  init?(reading text: String) {
    var rest = text[...]
    var found: ChainReason?
    // What stands behind the last link is no link: each is longer than nothing.
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

  /// Takes one link off the front, with the colon behind it.
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
