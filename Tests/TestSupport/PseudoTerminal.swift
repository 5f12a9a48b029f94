import Glibc
import LinuxSystem

/// A terminal of 80 columns (unless it has others) and 24 rows, at which a test is the person.
public final class PseudoTerminal {
  /// The side of the program.
  public let program: Int32
  private let person: Int32
  private var shown: [UInt8] = []
  /// How much of what was shown has been read.
  private var place = 0

  /// TIOCSPTLCK and TIOCGPTN of the kernel, which Glibc's module lacks.
  private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

  /// A new terminal with so many columns.
  public init(columns: UInt16 = 80) throws {
    person = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (locked, number): (Int32, Int32) = (0, 0)
    guard person >= 0, ioctl(person, Self.setLock, &locked) == 0, ioctl(person, Self.getNumber, &number) == 0 else {
      throw DeadlinePassed(description: "no pseudo-terminal: \(String(cString: strerror(errno)))")
    }
    program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard program >= 0 else { throw DeadlinePassed(description: "the pseudo-terminal cannot be opened") }
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(person, UInt(TIOCSWINSZ), &size)
    _ = fcntl(person, F_SETFL, O_NONBLOCK)
  }

  deinit {
    Descriptors.close(program)
    Descriptors.close(person)
  }

  /// Starts a program with this as its three descriptors.
  public func start(
    _ path: String, _ arguments: [String], environment: [String], isColoured: Bool = false
  ) throws -> SpawnedProcess {
    try SpawnedProcess(
      path, arguments, environment: environment + ["TERM=xterm"] + (isColoured ? [] : ["NO_COLOR=1"]),
      descriptors: [0: program, 1: program, 2: program])
  }

  /// All that was shown.
  public var text: String {
    read()
    return String(decoding: shown, as: UTF8.self)
  }

  /// Waits until this is shown, after what was awaited before.
  public func awaitText(_ text: String, within seconds: Double = 60) throws {
    do {
      try awaitSoon("the terminal shows '\(text)'", within: seconds) {
        read()
        guard let end = Self.end(of: Array(text.utf8), in: shown[place...]) else { return false }
        place = end
        return true
      }
    } catch {
      throw DeadlinePassed(description: "\(error); it shows: \(self.text.suffix(1_500))")
    }
  }

  /// Types a line.
  public func type(_ line: String) throws { try Descriptors.writeAll(line + "\n", to: person) }

  /// Waits for a text, and answers it.
  public func answer(_ question: String, _ line: String) throws {
    try awaitText(question)
    try type(line)
  }

  private func read() {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = Glibc.read(person, &bytes, bytes.count)
      guard count > 0 else { return }
      shown += bytes[..<count]
    }
  }

  private static func end(of text: [UInt8], in shown: ArraySlice<UInt8>) -> Int? {
    guard shown.count >= text.count else { return nil }
    for start in shown.startIndex...(shown.endIndex - text.count)
    where shown[start..<(start + text.count)].elementsEqual(text) {
      return start + text.count
    }
    return nil
  }
}
