internal import Contracts
internal import Frames

/// The first file of a backup, `manifest.json`: what made it, and what it holds.
public struct BackupManifest: Codable, Sendable, Hashable {
  /// A worker whose files are in the backup.
  public struct Worker: Codable, Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Its role.
    public var role: String
    /// The state of its files (`backup.hold`), for continuing an interrupted backup.
    public var snapshot: String
    /// Its files, relative to its directory.
    public var files: [String]
  }

  /// The form of the backup; this program reads up to ``formatMaximum``.
  public var format: Int
  /// The version of Roost that made it.
  public var version: String
  /// The moment that the files show, seconds since 1970.
  public var time: Int64
  /// The path of the configuration file.
  public var configuration: String?
  /// The workers.
  public var workers: [Worker]
  /// Workers with files that did not run, and are not in the backup.
  public var leftOut: [String]

  /// The latest form.
  public static let formatMaximum = 1
  /// Its name in the backup.
  static let name = "manifest.json"
  /// The name of the configuration file in the backup.
  public static let configurationName = "supervisor.conf"
  /// The last file: a line `SHA256  NAME` for each file before, as `sha256sum -c` reads it.
  static let sumsName = "SHA256SUMS"
  /// The most bytes of the manifest, of the sums and of the configuration file.
  static let byteCountMaximum = 4 << 20

  /// The names of all files of the backup, in their order.
  var names: [String] {
    [Self.name] + (configuration == nil ? [] : [Self.configurationName])
      + workers.flatMap { worker in
        worker.files.map { Self.path(of: $0, worker.name) }
      } + [Self.sumsName]
  }

  /// The name of a worker's file in the backup.
  static func path(of file: String, _ worker: String) -> String { "state/\(worker)/\(file)" }

  /// Why this program cannot restore it.
  var objection: BackupFault? {
    if format > Self.formatMaximum || Self.isNewer(version, than: RoostVersion.text) {
      return BackupFault(
        .newer, "Roost \(version) made this backup, and this is \(RoostVersion.text): install \(version) or later")
    }
    let isSound = names.allSatisfy { name in
      name.utf8.count <= TarHeader.nameByteCountMaximum && !name.hasPrefix("/")
        && name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
          !part.isEmpty && part != "." && part != ".." && part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        }
    }
    guard isSound, Set(names).count == names.count, format > 0 else {
      return BackupFault(.unsound, "the manifest names files that no backup has")
    }
    return nil
  }

  /// Whether a version such as `1.10.0` comes after another one.
  static func isNewer(_ version: String, than other: String) -> Bool {
    func numbers(_ text: String) -> [Int] { text.prefix { $0 != "-" }.split(separator: ".").map { Int($0) ?? 0 } }
    let (left, right) = (numbers(version), numbers(other))
    for index in 0..<max(left.count, right.count) {
      let (one, two) = (index < left.count ? left[index] : 0, index < right.count ? right[index] : 0)
      if one != two { return one > two }
    }
    return false
  }
}
