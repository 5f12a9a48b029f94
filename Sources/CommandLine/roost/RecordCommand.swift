internal import ArgumentParser
internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import RoostClient
internal import Rendering

/// `roost record`
///
/// Ctrl-C ends the recording and waits for its summary; a second Ctrl-C leaves, which ends the recording as well.
struct Record: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Records every message between a worker and the hub into a file.",
    discussion: """
      The recording covers one connection of the worker: the present one from now on, or, with --restart, the next one \
      from its HELLO on; only that can be replayed. If the worker is not running, its next start is waited for. One that you \
      started by hand and no configuration names is recorded from now on, never from its HELLO. It ends \
      with Ctrl-C, after --seconds, at --bytes, or when the worker's connection ends. The file has mode 0600 and holds \
      messages as they were sent, without tokens: treat it as you treat the messages.

        roost record example --restart --output example.recording
      """)
  @OptionGroup var name: WorkerName
  @Flag(help: "Restart the worker, so that the recording begins with its HELLO.")
  var restart = false
  @Option(
    name: [.short, .long],
    help: ArgumentHelp("The file to make; by default one in the state directory.", valueName: "file"))
  var output: String?
  @Option(help: "End after so many seconds.")
  var seconds: UInt32?
  @Option(help: "End before the file gets larger; 262144 to 268435456. Default: 67108864.")
  var bytes: Int?
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if seconds == 0 { throw ValidationError("A recording of 0 seconds holds nothing.") }
    if let bytes, !(256 << 10...256 << 20).contains(bytes) {
      throw ValidationError("--bytes is between 262144 and 268435456.")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let request = RecordRequest(
      worker: name.worker, path: output.map(TypedPaths.absolute), restart: restart ? true : nil,
      milliseconds: seconds.map { UInt64($0) * 1_000 }, bytes: bytes)
    let answer = try await session.client.stream(SupervisorMethod.record, request)
    let worker = name.worker
    try session.onFirstInterrupt {
      EventLoopActor.task {
        do throws(Refusal) {
          let end = RecordRequest(worker: worker, ends: true)
          _ = try await session.client.stream(SupervisorMethod.record, end).collect()
        } catch {
          // The recording has already ended, or the supervisor is gone: in both cases `answer` reports it.
        }
      }
    }
    while let item = try await answer.next() {
      switch item {
      case .part(let progress): await session.print(progress, [RecordText.progress(progress, worker: worker)])
      case .end(.ending(let progress)): await session.print(progress, [RecordText.progress(progress, worker: worker)])
      case .end(.ended(let result)):
        await session.print(result, RecordText.lines(result))
        return result.reason == "disk" ? .failed : .done
      }
    }
    return .failed
  }
}

/// Paths as they are typed.
enum TypedPaths {
  /// The path from the root: the supervisor has another working directory.
  static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard getcwd(&buffer, buffer.count) != nil else { return path }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/" + path
  }
}
