import Clocks
import RoostConfiguration
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logs
import MessageHub
import Recordings
import Supervision

// A recording belongs to the call that asked for it: when its caller leaves, it ends. So none is
// ever forgotten and fills a disk.

/// `supervisor.record`: recordings and their callers.
@EventLoopActor
final class RecordingCommands {
  private unowned let control: ControlService
  /// Recordings whose callers wait for them.
  private var recordings: [HubCall: BusRecording] = [:]
  /// Recordings whose last byte is not written; at most `BusRecording.countMaximum`.
  private var openCount = 0 { didSet { closed.raise() } }
  /// Raised when ``openCount`` has changed.
  private let closed = Signal()

  init(_ control: ControlService) { self.control = control }

  private var daemon: Daemon { control.daemon }

  func record(_ call: HubCall, _ request: RecordRequest) throws(Refusal) {
    try control.requireOwner(call, to: "record a worker")
    let subject = try subject(request.worker)
    if request.ends == true {
      guard let recording = subject.recording, !recording.hasEnded else {
        throw Refusal(.badRequest, "\(request.worker) is not being recorded", outcome: .notStarted)
      }
      recording.end(RecordingEnd(.asked, "it was ended by hand"))
      control.reply(call, RecordAnswer.ending(RecordProgress(path: recording.path, isRecording: false)))
      return
    }
    try check(request, subject)
    let name = "\(request.worker)-\(WallTime.now.compactText).recording"
    let directory = daemon.configuration.supervisor.stateDirectory + "/recordings"
    let recording = BusRecording(request, path: request.path ?? "\(directory)/\(name)") { [daemon] in
      daemon.shell.table
    }
    subject.recording = recording
    recordings[call] = recording
    openCount += 1
    recording.onBegin = { [unowned self, unowned recording] in tell(call, recording) }
    // It holds the subject for as long as the recording lasts, which never outlives the subject for long.
    recording.onEnd = { [unowned self, unowned recording] result in ended(call, recording, subject, result) }
    let ownDirectory = request.path == nil ? directory : nil
    EventLoopActor.task { [self] in
      do throws(SystemFault) { try await recording.create(ensuring: ownDirectory) } catch {
        // Its caller may have left meanwhile: then it has ended already.
        guard !recording.hasEnded else { return }
        recordings[call] = nil
        openCount -= 1
        if subject.recording === recording { subject.recording = nil }
        control.refuse(call, Refusal(.failed, "\(error)", outcome: .notStarted))
        return
      }
      begin(call, recording, subject, restarts: request.restart == true)
    }
  }

  /// What a name means: a worker of the configuration before one that was started by hand.
  private func subject(_ name: String) throws(Refusal) -> RecordingSubject {
    if daemon.worker(named: name) == nil, let guest = daemon.guest(named: name) { return .guest(guest) }
    return .worker(try control.worker(name))
  }

  /// The file is there. Meanwhile the caller may have left, or the worker.
  private func begin(
    _ call: HubCall, _ recording: BusRecording, _ subject: RecordingSubject, restarts: Bool
  ) {
    guard !recording.hasEnded, recordings[call] === recording else {
      recording.discard()
      return
    }
    daemon.log(.notice, "supervision", "\(recording.worker) is being recorded to \(recording.path)")
    switch subject {
    case .guest(let connection): beginRecording(guest: connection, recording)
    case .worker(let worker) where restarts:
      recording.skippedGeneration = worker.process?.generation
      tell(call, recording)
      worker.receive(.restartRequested)
    case .worker(let worker):
      if !worker.recordPresentConnection() { tell(call, recording) }
    }
  }

  /// A guest has no program, no arguments and no sandbox that roostd would know of.
  private func beginRecording(guest connection: PeerConnection, _ recording: BusRecording) {
    guard let seat = connection.seat else { return }
    let role = daemon.shell.hub.roleName(ofSeat: seat)
    let opening = RecordingOpening(
      worker: recording.worker, role: role, generation: 0, isFromStart: false, program: "", arguments: [],
      environment: [], sandbox: SandboxMode.off.rawValue, time: WallTime.now.text, version: RoostVersion.text)
    recording.begin(opening, of: role, in: daemon.shell.table)
  }

  private func tell(_ call: HubCall, _ recording: BusRecording) {
    // Whether the caller has room for it is no matter: it gets the end anyway.
    _ = control.part(call, RecordProgress(path: recording.path, isRecording: recording.isRecording))
  }

  private func ended(
    _ call: HubCall, _ recording: BusRecording, _ subject: RecordingSubject, _ result: RecordResult?
  ) {
    if subject.recording === recording { subject.recording = nil }
    openCount -= 1
    let name = recording.worker
    let size = result.map { "\($0.bytes) bytes, \($0.sentence)" } ?? "nothing was recorded"
    daemon.log(.notice, "supervision", "the recording of \(name) has ended: \(size)")
    guard recordings.removeValue(forKey: call) != nil else { return }
    guard let result else {
      let why = if case .guest = subject { "has left" } else { "was not started" }
      control.refuse(call, Refusal(.failed, "\(name) \(why): nothing was recorded", outcome: .notStarted))
      return
    }
    control.reply(call, RecordAnswer.ended(result))
  }

  /// The caller gave up, or left.
  func cancelled(_ call: HubCall) {
    recordings.removeValue(forKey: call)?.end(RecordingEnd(.asked, "the caller that asked for it has left"))
  }

  /// Waits until the last bytes of recordings that have ended are on the disk, if it takes them in time.
  func written(withinMilliseconds milliseconds: UInt64) async {
    let deadline = EventLoop.process.now.advanced(milliseconds: milliseconds)
    await closed.wait(until: deadline) { openCount == 0 }
  }

  private func check(_ request: RecordRequest, _ subject: RecordingSubject) throws(Refusal) {
    let name = request.worker
    guard daemon.stopping == nil, !subject.isLeaving else {
      throw Refusal(.unavailable, "\(name) is being stopped for good", outcome: .notStarted)
    }
    // One that has ended may still be on its way to the disk.
    if let other = subject.recording, !other.hasEnded {
      throw Refusal(.badRequest, "\(name) is being recorded to \(other.path) already", outcome: .notStarted)
    }
    guard openCount < BusRecording.countMaximum else {
      throw Refusal(
        .full, "\(BusRecording.countMaximum) recordings are under way, which is the most", outcome: .notStarted)
    }
    if let path = request.path, !path.hasPrefix("/") || path.utf8.contains(0) {
      throw Refusal(.badRequest, "'path' is an absolute path", outcome: .notStarted)
    }
    guard request.restart == true else { return }
    let why =
      switch subject {
      case .worker(let worker): control.whyNotRestarted(worker)
      case .guest: "\(name) was started by hand, and roostd cannot start it again; end it where it was started"
      }
    if let why { throw Refusal(.badRequest, "\(why). Record it without a restart before that", outcome: .notStarted) }
  }
}

/// The worker that a recording is of.
@EventLoopActor
private enum RecordingSubject {
  /// A worker of the configuration, also while a worker started by hand has its place: its next connection can be
  /// waited for.
  case worker(ManagedWorker)
  /// One that no configuration names: its present connection is all there is of it.
  case guest(PeerConnection)

  /// The recording that it has, or had last.
  var recording: BusRecording? {
    get {
      switch self {
      case .worker(let worker): worker.recording
      case .guest(let connection): connection.recording
      }
    }
    nonmutating set {
      switch self {
      case .worker(let worker): worker.recording = newValue
      case .guest(let connection): connection.recording = newValue
      }
    }
  }

  /// Whether it goes for good.
  var isLeaving: Bool { if case .worker(let worker) = self { worker.isLeaving } else { false } }
}

extension BusRecording {
  /// Begins with this opening; one that begins in the middle is given the numbers of methods that no WELCOME tells it.
  fileprivate func begin(_ opening: RecordingOpening, of role: String, in table: AccessTable) {
    var opening = opening
    if !opening.isFromStart {
      let own = table.all.filter { $0.number >= AccessTable.firstCustomNumber }
      opening.methods = Dictionary(uniqueKeysWithValues: own.map { ($0.name, $0.number) })
    }
    begin(opening, servesSecrets: table.all.contains { $0.isSecret && $0.server.name == role })
  }
}

extension ManagedWorker {
  /// Lets the recording begin with the present connection; false without one.
  func recordPresentConnection() -> Bool {
    guard recording != nil, let connection = daemon.shell.connection(on: seat) else { return false }
    beginRecording(connection, isFromStart: false)
    return true
  }

  /// The worker has greeted: a recording that waits for that begins, with the greeting.
  func recordGreeting(_ connection: PeerConnection, _ hello: Hello) {
    guard let recording, recording.isWaiting else { return }
    // One that is to be restarted may be in the middle of its start.
    if let skipped = recording.skippedGeneration, process?.generation == skipped { return }
    beginRecording(connection, isFromStart: true)
    // Written again from what was read of it, without the token: the bytes that held one are not touched again.
    var hello = hello
    hello.token = nil
    let payload = JSONPayload.encode(hello)
    payload.withUnsafeBytes {
      recording.record(.fromWorker, FrameHeader(type: .hello, payloadByteCount: payload.count), $0)
    }
  }

  private func beginRecording(_ connection: PeerConnection, isFromStart: Bool) {
    guard let recording else { return }
    let opening = RecordingOpening(
      worker: name, role: role.name, generation: process?.generation ?? machine.generation, isFromStart: isFromStart,
      program: configuration.program, arguments: configuration.arguments, environment: configuration.environment,
      sandbox: configuration.sandbox.rawValue, time: WallTime.now.text, version: RoostVersion.text)
    connection.recording = recording
    recording.begin(opening, of: role.name, in: daemon.shell.table)
  }
}
