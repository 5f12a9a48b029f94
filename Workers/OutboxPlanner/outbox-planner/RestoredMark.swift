import Glibc
import LinuxSystem
import Logging
import WorkerKit

// A backup has one file more than this worker's directory: `restored`, with the time of the backup. So the first start
// after a restore knows that its publications are those of an earlier moment. It sends again what was under way then;
// a relay that has taken an event since answers that it has it, so nothing is published twice.

/// The mark that the publish queue comes from a backup.
enum RestoredMark {
  private static let name = "restored"

  /// The mark as a file of a backup that is made now.
  static var file: [String: HeldFile] {
    let text = Array("\(WallClock.seconds)\n".utf8)
    return [name: .small { text }]
  }

  /// Says what a restored queue does, and removes the mark.
  static func tell(in directory: String, underWay count: Int, _ log: Logger) {
    let path = "\(directory)/\(name)"
    guard let file = fopen(path, "re") else { return }
    var bytes = [UInt8](repeating: 0, count: 32)
    let read = fread(&bytes, 1, bytes.count, file)
    fclose(file)
    let time = String(decoding: bytes[..<read].prefix { $0 != 0x0A }, as: UTF8.self)
    log.notice(
      "restored from a backup: what was under way then is sent, each event once to each relay",
      metadata: ["backup-time": "\(Int64(time).map { "\($0)" } ?? "unknown")", "publications": "\(count)"])
    unlink(path)
  }
}
