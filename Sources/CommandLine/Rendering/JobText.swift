public import Contracts
internal import Cryptography
internal import Frames
internal import Nostr
internal import Wording

// Jobs for people. What a provider says is foreign text, and reaches a terminal only through `VisibleText`: a remark in
// quotation marks, lines of a result or of a part after a bar, so that none of it looks like a line of Roost's own.

/// What `roost job` prints.
public enum JobText {
  /// The maximum number of result lines in `roost job show`; `--json`, or `--result`, gives all of it.
  static let resultLineMaximum = 20

  /// A table of jobs, in the order given.
  public static func lines(_ jobs: [Job], now: Int64, _ style: Style) -> [String] {
    guard !jobs.isEmpty else { return ["No jobs, or none of that kind are left."] }
    var table = TextTable([
      TextTable.Column(title: "JOB", columnsMaximum: 16), TextTable.Column(title: "STATE"),
      TextTable.Column(title: "KIND", alignment: .right), TextTable.Column(title: "AGE", alignment: .right),
      TextTable.Column(title: "PROVIDERS", alignment: .right, isSpareable: true),
      TextTable.Column(title: "WHY"),
    ])
    for job in jobs {
      table.append([
        TextTable.Cell(job.id, .dim), TextTable.Cell(job.state.rawValue, tone(job.state)),
        TextTable.Cell("\(job.kind)"), TextTable.Cell(age(job.submittedAt, now)),
        TextTable.Cell("\(job.providers.count)"), TextTable.Cell(VisibleText.make(job.reason ?? "")),
      ])
    }
    return table.lines(style)
  }

  /// One job with its requests and providers.
  public static func lines(_ job: Job, now: Int64, _ style: Style) -> [String] {
    var heading = "job \(job.id)  \(style.paint(job.state.rawValue, tone(job.state)))"
    if let reason = job.reason { heading += ": \(VisibleText.make(reason))" }
    var lines = [heading]
    let key = hasOwnName(job) ? ", key \(VisibleText.make(job.key))" : ""
    var about = "  kind \(job.kind)\(key), for \(owner(job)), submitted \(past(job.submittedAt, now))"
    if let ended = job.endedAt { about += ", ended \(past(ended, now))" }
    // Before the first request, only the deadline of the whole job is known, and a nearer one comes before it.
    let isBegun = job.state != .drafted || !job.requests.isEmpty
    if let next = job.nextDeadlineAt, !job.state.isFinal, isBegun { about += ", waits \(age(now, next)) more at most" }
    lines.append(style.paint(about, .dim))
    for request in job.requests {
      lines.append(style.paint("  request \(request.event)  \(place(request))", .dim))
    }
    for parent in job.dependsOn { lines.append(style.paint("  needs the result of job \(parent)", .dim)) }
    for provider in job.providers { lines += self.lines(provider, of: job, now: now, style) }
    if let result = job.result { lines += excerpt(result, style) }
    for (name, count) in job.diagnostics.sorted(by: { $0.key < $1.key }) {
      lines.append(style.paint("  odd: \(JobDiagnosticText.line(name, count: count))", .warning))
    }
    return lines
  }

  /// The state of a job, as text after "it": `is drafted`, `has failed`.
  public static func standing(_ state: Job.State) -> String {
    switch state {
    case .failed, .expired: "has \(state.rawValue)"
    case .paymentRequired: "waits for a payment"
    case .cancelled, .waiting, .drafted, .published, .processing, .delivered, .settled: "is \(state.rawValue)"
    }
  }

  /// Whether its submitter has named it. A generated key is of no interest: the job's id, or 16 random bytes.
  private static func hasOwnName(_ job: Job) -> Bool {
    job.key != job.id && !(job.key.utf8.count == 32 && job.key.allSatisfy { $0.isASCII && $0.isHexDigit })
  }

  /// What becomes of a job when the user stops watching.
  public static func outlook(_ job: Job) -> String {
    // The line before says what keeps it.
    job.state == .drafted && job.reason != nil ? "It is kept, and continues then" : "It continues automatically"
  }

  /// Where a request can be seen.
  static func place(_ request: JobRequestState) -> String {
    if request.relays == 0 { return request.isStored ? "on this machine" : "not published yet" }
    return "\(request.confirmedRelays) of \(Amount.count(request.relays, "relay"))"
  }

  private static func lines(_ provider: JobProviderState, of job: Job, now: Int64, _ style: Style) -> [String] {
    var line = "  \(name(provider.provider))  \(style.paint(provider.state.rawValue, tone(provider.state)))"
    if let message = provider.message, !message.isEmpty { line += "  \(quoted(message))" }
    if let sign = provider.lastSignAt { line += style.paint("  \(past(sign, now))", .dim) }
    var lines = [line]
    lines += payment(provider, of: job, style)
    // A provider may put the same text into its status and into a part.
    if let partial = provider.partial, !partial.isEmpty, partial != provider.message, provider.state != .delivered {
      lines += content(partial, lineMaximum: 4).map { "    | \($0)" }
    }
    return lines
  }

  private static func excerpt(_ result: JobResultState, _ style: Style) -> [String] {
    let all = content(result.content, lineMaximum: .max)
    var lines = ["  result by \(name(result.provider))"] + all.prefix(resultLineMaximum).map { "    | \($0)" }
    if all.count > resultLineMaximum {
      lines.append(style.paint("    … \(Amount.count(all.count - resultLineMaximum, "line")) more: --result", .dim))
    }
    return lines
  }

  /// Foreign text, line by line.
  public static func content(_ text: String, lineMaximum: Int) -> [String] {
    text.split(separator: "\n", maxSplits: lineMaximum == .max ? .max : lineMaximum, omittingEmptySubsequences: false)
      .prefix(lineMaximum).map { VisibleText.make($0) }
  }

  /// The maximum number of characters of a foreign remark that are shown; `--json` has all of it.
  static let remarkCharacterMaximum = 300

  /// A foreign remark in quotes, on one line, so that it is not taken for text of Roost's own.
  static func quoted(_ text: String) -> String {
    let cut = text.count > remarkCharacterMaximum
    let words = VisibleText.make(text.prefix(remarkCharacterMaximum)).replacing("\"", with: "'")
    return "\"\(words)\(cut ? "…" : "")\""
  }

  static func name(_ key: String) -> String {
    guard let npub = PublicKey(key)?.npub else { return VisibleText.make(key) }
    return "\(npub.prefix(11))…\(npub.suffix(4))"
  }

  /// The owner of a job: `alice`, `npub1…`, or this machine itself.
  public static func owner(_ job: Job) -> String {
    guard let account = job.accountName else { return name(job.account) }
    return account == Role.dvmTracker.name ? "this machine's own account, \(account)" : VisibleText.make(account)
  }

  private static func age(_ from: Int64, _ to: Int64) -> String {
    let seconds = UInt64(clamping: max(0, to - from))
    guard seconds > 0 else { return "0s" }
    return Amount.duration(milliseconds: seconds.multipliedReportingOverflow(by: 1_000).partialValue)
  }

  /// `5s ago`; times are whole seconds here, and less than one second is `just now`.
  private static func past(_ from: Int64, _ now: Int64) -> String { from >= now ? "just now" : "\(age(from, now)) ago" }

  static func tone(_ state: Job.State) -> Tone {
    switch state {
    case .waiting, .drafted, .published, .processing, .paymentRequired: .warning
    case .delivered, .settled: .good
    case .failed, .expired: .bad
    case .cancelled: .dim
    }
  }

  private static func tone(_ state: JobProviderState.State) -> Tone {
    switch state {
    case .asked, .processing, .partial, .paymentRequired: .warning
    case .delivered: .good
    case .error, .silent: .bad
    }
  }
}

/// The lines for a user who follows a job: one for the job and for each provider whenever its state differs from the
/// last line. Payments are described in the words of `roost job show`.
public struct JobNews: Sendable {
  private var standing: String?
  private var places: [String: String] = [:]
  private var told: [String: [String]] = [:]

  /// A state in which nothing was reported.
  public init() {}

  /// A line for each change.
  public mutating func lines(_ job: Job, _ style: Style) -> [String] {
    var lines: [String] = []
    for request in job.requests {
      let place = JobText.place(request)
      let isThere = request.confirmedRelays > 0 || (request.relays == 0 && request.isStored)
      guard isThere, places[request.event] != place else { continue }
      places[request.event] = place
      lines.append(style.paint("published: \(place)", .dim))
    }
    for provider in job.providers where provider.state != .asked {
      var news = ["\(JobText.name(provider.provider)): \(provider.state.rawValue)"]
      // The end of a job is reported with its reason, which may contain these words.
      let words = provider.message.map(JobText.quoted)
      let isToldAtTheEnd = job.state.isFinal && words.map { job.reason?.contains($0) == true } ?? false
      if let words, provider.message?.isEmpty == false, !isToldAtTheEnd {
        news[0] += ": \(words)"
      }
      news += JobText.payment(provider, of: job, style)
      guard told[provider.provider] != news else { continue }
      told[provider.provider] = news
      lines += news
    }
    return lines + reason(job)
  }

  /// Why a job does not continue that no provider works on yet.
  private mutating func reason(_ job: Job) -> [String] {
    guard [.waiting, .drafted, .published].contains(job.state), let reason = job.reason else {
      standing = nil
      return []
    }
    let line = "\(job.state.rawValue): \(VisibleText.make(reason))"
    guard line != standing else { return [] }
    standing = line
    return [line]
  }
}
