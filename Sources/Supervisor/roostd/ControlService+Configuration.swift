import Contracts
import EventLoop
import Frames
import Glibc
import LinuxSystem
import MessageHub
import RoostConfiguration

extension ControlService {
  /// Reads the configuration file on a thread, and answers with it.
  func configuration(_ call: HubCall) {
    let (path, state) = (daemon.configuration.file, daemon.configuration.supervisor.stateDirectory)
    EventLoopActor.task { [self] in
      let file = await EventLoopActor.onThreadPool { Self.file(path, state) }
      switch file {
      case .success(let file): reply(call, file)
      case .failure(let refusal): refuse(call, refusal)
      }
    }
  }

  private nonisolated static func file(_ path: String, _ state: String) -> Result<SupervisorConfigurationFile, Refusal>
  {
    func failure(_ reason: String) -> Result<SupervisorConfigurationFile, Refusal> {
      .failure(Refusal(.failed, "the configuration file \(path) \(reason)", outcome: .notStarted))
    }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      // Without a file roostd runs with its defaults.
      return errno == ENOENT
        ? .success(SupervisorConfigurationFile(path: nil, text: "", folders: folders(in: state)))
        : failure("cannot be read: \(String(cString: strerror(errno)))")
    }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: SupervisorConfigurationFile.byteCountMaximum + 1)
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress?.advanced(by: count), $0.count - count) }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { return failure("cannot be read: \(String(cString: strerror(errno)))") }
      if got == 0 { break }
      count += got
    }
    guard count < bytes.count else {
      return failure("has more than \(SupervisorConfigurationFile.byteCountMaximum >> 10) KiB")
    }
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    return .success(SupervisorConfigurationFile(path: path, text: text, folders: folders(in: state)))
  }

  /// The folders of workers: all but those of the supervisor itself.
  private nonisolated static func folders(in state: String) -> [String] {
    guard let folder = opendir(state) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder), names.count < folderMaximum {
      let isFolder = entry.pointee.d_type == DT_DIR
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if isFolder, !name.hasPrefix("."), !ownFolders.contains(name) { names.append(name) }
    }
    return names.sorted()
  }

  private nonisolated static let ownFolders: Set<String> = ["dead-letters", "recordings", "run", "logs"]
  /// More than there are workers.
  private nonisolated static let folderMaximum = 256
}
