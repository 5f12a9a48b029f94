import Contracts
import EventLoop
import Frames
import Glibc
import LinkAddresses
import LinuxSystem
import Logging
import UserPrograms
import WorkerKit
import Wording

// The two programs of the settings, which the worker runs as `dvm-provider` runs those of jobs.
//
//     notify     title and body  ─▶ one at a time, no internet, unix sockets for D-Bus
//     extractor  a link          ─▶ two at a time, the internet, no unix sockets    ─▶ the address of a media file
//
// Both get what a stranger wrote, as arguments. So no argument may look like an option: a link begins with `http`, and
// a title or body that begins with `-` gets a space in front. (`--` would do for most programs and be an argument for
// the others.)

/// Runs the programs of the settings: `notify` and `extractor`.
@EventLoopActor
final class LinkPrograms {
  private let settings: LinkPageSettings
  private let log = Logger(label: "links")
  private let folder: String
  private let gate = LookGate()
  private var runs: [Int: ProgramRun] = [:]
  private var runNumber = 0
  private var hasEnded = false
  private var notices = NoticeQueue()
  private var isShowing = false
  /// Why the last notice was not shown; nil if it was.
  private var noticeFault: String?
  private var freePlaces = extractorMaximum
  private var waiting: [CheckedContinuation<Bool, Never>] = []

  /// Extractors that run at the same time.
  private static let extractorMaximum = 2
  /// Links that wait for one.
  private static let waitingMaximum = 8
  private static let noticeMilliseconds: UInt64 = 10_000
  private static let extractorByteCount = 1 << 30
  private static let noticeByteCount = 256 << 20
  private static let outputByteCountMaximum = 64 << 10
  private static let diskByteCountMaximum = 64 << 20
  private static let processMaximum = 64

  init(_ worker: Worker, _ settings: LinkPageSettings, directory: String) {
    self.settings = settings
    folder = directory + "/programs"
    // What a killed process has left. On the loop: nothing is served yet.
    do throws(SystemFault) { try FolderTree.remove(folder) } catch { left(error) }
    endLeftGroups()
  }

  /// What the worker's sandbox allows, for itself and for the programs.
  nonisolated static func profile(_ directory: String?) -> SandboxProfile {
    var profile = SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths + SandboxProfile.resolverPaths,
      writablePaths: directory.map { [$0] } ?? [], network: .inet, maySpawn: false)
    let surroundings = ProgramEnvironment.own
    if !surroundings.programPaths.isEmpty { surroundings.allowPrograms(in: &profile) }
    return profile
  }

  /// Ends what runs, and refuses what waits.
  func end() {
    hasEnded = true
    notices.removeAll()
    let refused = waiting
    waiting.removeAll()
    for place in refused { place.resume(returning: false) }
    for run in runs.values { run.stop(Self.endText) }
  }

  private static let endText = "the page is being restarted"

  // MARK: Notices

  /// Shows a notice, after those before it.
  func show(_ notice: LinkChange.Notice) {
    guard !settings.notify.isEmpty, !hasEnded else { return }
    notices.append(notice)
    guard !isShowing else { return }
    isShowing = true
    EventLoopActor.task { [self] in
      while let next = notices.next() {
        if next.dropped > 0 {
          let text = next.dropped == 1 ? "1 notice was" : "\(next.dropped) notices were"
          log.warning("\(text) not shown: they came faster than the program shows them")
        }
        await run(NoticeText(next.notice, for: settings.notify[0]))
      }
      isShowing = false
    }
  }

  private func run(_ text: NoticeText) async {
    if let why = unfitness(of: settings.notify[0]) { return failed(why) }
    var plan = plan(settings.notify + [text.title, text.body], network: .unixSockets)
    (plan.timeMilliseconds, plan.memoryByteCount) = (Self.noticeMilliseconds, Self.noticeByteCount)
    // Of what strangers wrote it gets two texts; and without a sandbox for the worker it has none either.
    plan.mayLackSandbox = true
    let end = await run(plan)
    guard case .failed(let reason) = end.outcome, !hasEnded else {
      noticeFault = nil
      return
    }
    failed(reason + (ProgramWords.last(of: end.errors, without: [text.title, text.body]).map { ": \($0)" } ?? ""))
  }

  /// Logs why notices are not shown; once for each reason.
  private func failed(_ why: String) {
    guard noticeFault != why else { return }
    noticeFault = why
    log.error("notices are not shown", metadata: ["program": "\(settings.notify[0])", "why": "\(why)"])
  }

  // MARK: Videos

  /// Whether a video can be extracted.
  var extracts: Bool { !settings.extractor.isEmpty }

  /// Finds the media file of a link.
  ///
  /// - Throws: `failed`, with the reason in words.
  func media(of url: LinkURL) async throws(Refusal) -> LinkURL {
    guard extracts else { throw Refusal(.failed, "no extractor is set") }
    try await takePlace()
    defer { leavePlace() }
    if let why = unfitness(of: settings.extractor[0]) {
      log.error("the extractor is not run", metadata: ["why": "\(why)"])
      throw Refusal(.failed, "the extractor is not run: \(why)")
    }
    var plan = plan(settings.extractor + [url.text], network: .internet)
    (plan.timeMilliseconds, plan.memoryByteCount) = (
      UInt64(max(1, settings.extractorMilliseconds)), Self.extractorByteCount
    )
    // It reads what a stranger's link leads to.
    plan.mayLackSandbox = ProgramEnvironment.own.requirement == .off
    let end = await run(plan)
    switch end.outcome {
    case .done(let output): return try ProgramWords.media(in: output)
    case .failed(let reason):
      // Its own words name the link, which must not be in a file in clear. The page shows them.
      log.notice("the extractor has failed", metadata: ["why": "\(reason)"])
      let words = ProgramWords.last(of: end.errors).map { ": \($0)" } ?? ""
      throw Refusal(.failed, "the extractor has failed: \(reason)\(words)")
    }
  }

  private func takePlace() async throws(Refusal) {
    guard !hasEnded else { throw Refusal(.failed, Self.endText) }
    guard freePlaces == 0 else {
      freePlaces -= 1
      return
    }
    guard waiting.count < Self.waitingMaximum else {
      throw Refusal(.failed, "\(waiting.count) links wait for the extractor already; try again in a moment")
    }
    guard await withCheckedContinuation({ waiting.append($0) }) else { throw Refusal(.failed, Self.endText) }
  }

  private func leavePlace() {
    // The next one in the queue takes it over.
    if waiting.isEmpty { freePlaces += 1 } else { waiting.removeFirst().resume(returning: true) }
  }

  // MARK: Runs

  private func unfitness(of program: String) -> String? {
    switch ProgramEnvironment.own.files.fitness(of: program, reading: settings.read) {
    case .fit: nil
    case .unfit(let why): why
    // A new sandbox takes a new process, and browsers would have to come in again.
    case .replaced(let path): "\(path) was replaced by another file: type 'roost restart link-page'"
    }
  }

  private func plan(_ command: [String], network: ProgramPlan.Network) -> ProgramPlan {
    runNumber += 1
    var plan = ProgramPlan(
      command: command, input: [], folder: "\(folder)/\(runNumber)", environment: settings.environment,
      readablePaths: settings.read, network: network, timeMilliseconds: 0, memoryByteCount: 0,
      outputByteCount: Self.outputByteCountMaximum, diskByteCount: Self.diskByteCountMaximum,
      processMaximum: Self.processMaximum, freeByteCountMinimum: ServingBounds.freeByteCountMinimum)
    plan.group = ProgramEnvironment.own.group?.inner("\(getpid())-\(runNumber)")
    return plan
  }

  private func run(_ plan: ProgramPlan) async -> ProgramEnd {
    let number = runNumber
    let run = ProgramRun(plan, gate: gate)
    runs[number] = run
    let end = await run.run()
    runs[number] = nil
    if let fault = end.leftFolder { left(fault) }
    if let fault = end.lackedGroup {
      log.error("a program's group cannot be made", metadata: ["why": "\(fault)"])
    }
    if end.leftGroup != nil { endLeftGroups() }
    return end
  }

  private func left(_ fault: SystemFault) {
    log.error("a program's folder cannot be removed before the next start", metadata: ["why": "\(fault)"])
  }

  private func endLeftGroups() {
    let names = Set(runs.values.compactMap(\.groupName))
    EventLoopActor.task { [self] in
      for fault in await ProgramRun.endLeftGroups(except: names) {
        log.error("a program's group cannot be removed", metadata: ["why": "\(fault)"])
      }
    }
  }
}
