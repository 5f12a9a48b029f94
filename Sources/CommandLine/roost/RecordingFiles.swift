internal import ArgumentParser
internal import EventLoop
internal import Frames
internal import Glibc
internal import Recordings
internal import Rendering

/// `roost recording`
struct RecordingFiles: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recording", abstract: "Looks into recordings of the bus.", subcommands: [Show.self])

  /// `roost recording show`
  struct Show: LoopCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints a recording, one line a frame.",
      discussion: """
        A line is the frame's number, seconds since the start, → for a frame to the worker and ← for one from it, type, \
        method, ids, and as much of the payload as fits. With --json, an object a line with everything in it.

        Exit codes: 0 the whole recording, 1 it is truncated or damaged.
        """)
    @Argument(help: "The file.") var file: String
    @OptionGroup var general: GeneralOptions

    func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
      let input = try RecordingInput(file)
      var reader = RecordingReader()
      var printer = RecordingPrinter(session)
      while let bytes = try input.next() {
        reader.append(bytes)
        do throws(RecordingFault) {
          while let record = try reader.next() { await printer.print(record, reader.opening) }
        } catch { throw Refusal(.failed, "\(file): \(error)") }
      }
      guard let opening = reader.opening else { throw Refusal(.failed, "\(file): \(RecordingFault.noOpening)") }
      await printer.printEnd(opening, isCutOff: reader.restByteCount > 0)
      return printer.isWhole ? .done : .failed
    }
  }
}

/// The last object of `recording show --json`.
private struct EndObject: Encodable {
  /// Absent if the recording has no end record.
  var end: RecordingEnd?
  var isCutOff: Bool
}

/// Prints records as they are read.
@EventLoopActor
private struct RecordingPrinter {
  private let session: CommandSession
  private var text: RecordingText
  private var frameCount = 0
  private var hasBegun = false
  private var end: RecordingEnd?

  init(_ session: CommandSession) {
    self.session = session
    text = RecordingText(session.style)
  }

  /// Whether the end record was read.
  var isWhole: Bool { end != nil }

  mutating func print(_ record: RecordingEntry, _ opening: RecordingOpening?) async {
    await begin(opening)
    switch record {
    case .frame(let frame):
      frameCount += 1
      let line = session.isJSON ? text.object(frameCount, frame) : Array(text.line(frameCount, frame).utf8)
      await session.output.writeLine(line)
    case .gap(let nanoseconds, let count):
      let line =
        session.isJSON
        ? RecordingText.gapObject(nanoseconds: nanoseconds, missingCount: count)
        : Array(text.gapLine(missingCount: count).utf8)
      await session.output.writeLine(line)
    case .end(_, let end): self.end = end
    }
  }

  mutating func printEnd(_ opening: RecordingOpening, isCutOff: Bool) async {
    await begin(opening)
    await session.print(EndObject(end: end, isCutOff: isCutOff), text.endLines(end, isCutOff: isCutOff))
  }

  private mutating func begin(_ opening: RecordingOpening?) async {
    guard !hasBegun, let opening else { return }
    hasBegun = true
    text.learn(opening)
    await session.print(opening, RecordingText.head(opening, session.style))
  }
}

/// A recording's file, read in pieces.
@EventLoopActor
final class RecordingInput {
  private let path: String
  private let descriptor: Int32

  private static let pieceByteCount = 256 << 10

  init(_ path: String) throws(Refusal) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw RecordingInput.failure(path) }
  }

  isolated deinit { if descriptor >= 0 { close(descriptor) } }

  /// The next bytes; nil at the end.
  func next() throws(Refusal) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: Self.pieceByteCount)
    while true {
      let count = read(descriptor, &bytes, bytes.count)
      if count == 0 { return nil }
      if count > 0 { return Array(bytes[..<count]) }
      if errno != EINTR { throw Self.failure(path) }
    }
  }

  /// The whole recording.
  static func whole(_ path: String) throws(Refusal) -> Recording {
    let input = try RecordingInput(path)
    var bytes: [UInt8] = []
    while let piece = try input.next() {
      bytes += piece
      guard bytes.count <= RecordingWriter.byteCountCeiling else {
        throw Refusal(.failed, "\(path) is larger than any recording", outcome: .notStarted)
      }
    }
    do throws(RecordingFault) { return try Recording(reading: bytes) } catch {
      throw Refusal(.failed, "\(path): \(error)", outcome: .notStarted)
    }
  }

  private static func failure(_ path: String) -> Refusal {
    Refusal(.failed, "cannot read \(path): \(String(cString: strerror(errno)))", outcome: .notStarted)
  }
}
