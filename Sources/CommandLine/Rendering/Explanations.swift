public import Contracts
internal import Frames
internal import Wording

/// What `roost why` prints: sentences, then the worker's last log lines. `roostd` writes the sentences, in
/// `ControlService.explain` and `StateReport.sentences`.
public enum WhyText {
  /// The lines.
  public static func lines(_ result: WhyResult, _ style: Style) -> [String] {
    let state = style.paint(VisibleText.make(result.state.rawValue), StateTone.of(result.state))
    let worker = VisibleText.make(result.worker)
    var lines = result.sentences.flatMap { style.prose(VisibleText.make($0)) }
    if let first = lines.first, first.hasPrefix(worker + " ") {
      lines[0] = style.paint(worker, .strong) + first.dropFirst(worker.count)
    } else {
      lines.insert("\(style.paint(worker, .strong)) is \(state).", at: 0)
    }
    guard !result.lastLines.isEmpty else { return lines }
    lines += ["", style.paint("Its last log lines:", .strong)]
    var formatter = LogLines(style)
    for record in result.lastLines { lines += formatter.lines(record, indent: 2).map { "  " + $0 } }
    return lines
  }
}

/// What `roost doctor` prints: a line a check.
public enum DoctorText {
  /// The lines.
  public static func lines(_ result: DoctorResult, _ style: Style) -> [String] {
    let width = min(result.checks.map { DisplayWidth.of(VisibleText.make($0.name)) }.max() ?? 0, 24)
    let lines = result.checks.flatMap { check in
      let name = DisplayWidth.cut(VisibleText.make(check.name), to: width)
      let blanks = String(repeating: " ", count: max(0, width - DisplayWidth.of(name)))
      let text = DisplayWidth.wrap(VisibleText.make(check.text), to: style.columns - width - 4)
      let below = text.dropFirst().map { String(repeating: " ", count: width + 4) + $0 }
      return ["\(mark(check, style)) \(name)\(blanks)  \(text[0])"] + below
    }
    return lines + ["", verdict(result, style)]
  }

  /// What needs attention only, and the sentence at the end.
  public static func short(_ result: DoctorResult, _ style: Style) -> [String] {
    let bad = DoctorResult(checks: result.checks.filter { !$0.isGood })
    return bad.checks.isEmpty ? [verdict(result, style)] : lines(bad, style)
  }

  private static func mark(_ check: DoctorResult.Check, _ style: Style) -> String {
    guard check.isGood else { return style.paint("✗", .bad) }
    return check.isPending == true ? style.paint("–", .warning) : style.paint("✓", .good)
  }

  private static func verdict(_ result: DoctorResult, _ style: Style) -> String {
    let bad = result.checks.count { !$0.isGood }
    if bad > 0 { return style.paint(bad == 1 ? "1 check needs attention." : "\(bad) checks need attention.", .bad) }
    let isPending = result.checks.contains { $0.isPending == true }
    guard isPending else { return "All is well." }
    return "Nothing needs fixing; – marks what is still starting, stopped on purpose, or worth a look."
  }
}

/// What `roost attach` prints: a command line to copy, and what it does.
public enum AttachText {
  /// The lines; the command is alone on the first, so that it can be copied.
  public static func lines(_ grant: AttachGrant, _ style: Style) -> [String] {
    let name = VisibleText.make(grant.name)
    let time = Amount.duration(milliseconds: grant.expiresMilliseconds)
    let remark = grant.remark.map { style.prose(VisibleText.make($0)).map { style.paint($0, .warning) } } ?? []
    let sentences = [
      "Run this in a shell of yours within \(time); the token can be used once.",
      "The program joins as '\(name)' (\(VisibleText.make(grant.role))). If roostd runs a worker of that name, it is "
        + "stopped first and its mail goes to yours; when yours leaves, the place is given back.",
    ]
    return [style.paint(VisibleText.make(grant.command), .strong), ""] + remark + sentences.flatMap(style.prose)
  }
}

/// What `roost reload` prints.
public enum ReloadText {
  /// The lines.
  public static func lines(_ result: ReloadResult, _ style: Style) -> [String] {
    let warnings = (result.warnings ?? []).map { style.paint("warning: " + VisibleText.make($0), .warning) }
    let remarks = (result.remarks ?? []).map { style.paint(VisibleText.make($0), .warning) }
    guard !result.changes.isEmpty else { return warnings + ["The configuration is unchanged."] + remarks }
    let changes = result.changes.flatMap { paragraph in
      paragraph.split(separator: "\n", omittingEmptySubsequences: false).map { "  " + VisibleText.make($0) }
    }
    let heading = result.isApplied ? "Taken over:" : "This would change:"
    return warnings + [style.paint(heading, .strong)] + changes + remarks
  }
}

/// What `roost log level` prints.
public enum LogLevelText {
  /// The lines.
  public static func lines(_ result: LogLevelResult, _ style: Style) -> [String] {
    let category = VisibleText.make(result.category)
    let subject = category == "*" ? "All other categories now log" : "Category '\(category)' now logs"
    let remark = result.remark.map { style.prose(VisibleText.make($0)).map { style.paint($0, .warning) } } ?? []
    return ["\(subject) at level \(VisibleText.make(result.level))."] + remark
  }
}
