internal import EventLoop

/// The state of one worker's log: its gate, its records in memory, its file.
@EventLoopActor
final class Journal {
  /// The worker, or the name that several workers share.
  let name: String
  var intake: LogIntake
  var ring = LogRing()
  /// Nil if nothing is written to disk.
  var file: LogFile?
  /// Messages of the read in progress.
  var gathered: [LogMessage] = []

  init(name: String, settings: WorkerLogSettings) {
    self.name = name
    intake = LogIntake(linesPerSecond: settings.linesPerSecond, burstLines: settings.burstLines)
  }
}

/// The name of a worker's log file.
enum LogFileName {
  /// `NAME.log`. Bytes that do not belong in a file's name are written as `%2F`, so two workers never share a file and
  /// no file is outside the directory. The name is at most 128 bytes long.
  static func encode(_ worker: String) -> String {
    var name = ""
    for (index, byte) in worker.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        name.append(Character(Unicode.Scalar(byte)))
      case UInt8(ascii: ".") where index > 0: name.append(".")
      default: name += "%" + hexadecimal(byte)
      }
    }
    return name + ".log"
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    let text = String(byte, radix: 16, uppercase: true)
    return text.count == 1 ? "0" + text : text
  }
}
