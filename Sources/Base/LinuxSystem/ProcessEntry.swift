/// One process as `/proc/PID/stat` shows it.
public struct ProcessEntry: Hashable, Sendable {
  /// The state of a process, in the terms that a supervisor needs.
  public enum State: Hashable, Sendable {
    /// Running or waiting for something.
    case alive
    /// Stopped by a signal or a tracer.
    case stopped
    /// Ended; its parent has not waited for it yet.
    case ended
  }

  /// Process id.
  public let process: Int32
  /// The program's short name, at most 15 bytes, chosen by the process itself: for display only.
  public let name: String
  /// The state of the process.
  public let state: State
  /// The parent's process id; 0 for the first process of a namespace.
  public let parent: Int32
  /// Process group.
  public let group: Int32
  /// Session. A worker's is its own process id, and its descendants keep it unless they call `setsid`.
  public let session: Int32
  /// Start time in clock ticks since boot. Together with the process id it identifies a process without doubt.
  public let startTicks: UInt64

  /// Reads the line of `/proc/PID/stat`; nil if it is malformed.
  ///
  /// The name is in parentheses and may itself contain parentheses and blanks, so the fields are counted from the last
  /// `)`.
  init?(statLine line: [UInt8]) {
    guard let open = line.firstIndex(of: UInt8(ascii: "(")), let close = line.lastIndex(of: UInt8(ascii: ")")),
      open < close, let process = KernelFiles.number(in: line[..<open])
    else { return nil }
    let fields = line[(close + 1)...].split(separator: UInt8(ascii: " "))
    // From the state on: 0 state, 1 parent, 2 group, 3 session, … 19 start time.
    guard fields.count > 19, let letter = fields[0].first, let parent = KernelFiles.number(in: fields[1]),
      let group = KernelFiles.number(in: fields[2]), let session = KernelFiles.number(in: fields[3]),
      let startTicks = KernelFiles.number(in: fields[19])
    else { return nil }
    self.process = Int32(truncatingIfNeeded: process)
    self.name = String(decoding: line[(open + 1)..<close], as: UTF8.self)
    self.parent = Int32(truncatingIfNeeded: parent)
    self.group = Int32(truncatingIfNeeded: group)
    self.session = Int32(truncatingIfNeeded: session)
    self.startTicks = startTicks
    switch letter {
    case UInt8(ascii: "Z"), UInt8(ascii: "X"): state = .ended
    case UInt8(ascii: "T"), UInt8(ascii: "t"): state = .stopped
    default: state = .alive
    }
  }
}
