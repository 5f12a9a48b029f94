public import EventLoop
public import Frames
internal import Glibc

/// The location of the supervisor's socket.
public enum BusSocket {
  /// The environment variables that determine it, in addition to `ROOST_SOCKET`.
  public static let variables = ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME"]

  /// The socket of the system's Roost, which serves the members of a group.
  public static let system = "/run/roost/roost.sock"

  /// The paths to try, in order: only `ROOST_SOCKET` if it is set; otherwise the run directory of an installed Roost,
  /// which is in its state directory on a machine without `XDG_RUNTIME_DIR`, then that of a checkout, then ``system``.
  public static func candidates(environment: [String: String]) -> [String] {
    if let path = environment["ROOST_SOCKET"], !path.isEmpty { return [path] }
    var paths: [String] = []
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let run = variable("XDG_RUNTIME_DIR") {
      paths.append(run + "/roost/roost.sock")
    } else if let state = variable("XDG_STATE_HOME") ?? variable("HOME").map({ $0 + "/.local/state" }) {
      paths.append(state + "/roost/run/roost.sock")
    }
    return paths + ["run/roost.sock", system]
  }

  /// Connects to the first path where a trusted supervisor listens.
  ///
  /// A program may send a passphrase to the supervisor, so the kernel is queried for the listener's user before a byte
  /// is sent. At a default path the listener must be our own user or root, at ``system`` also the owner of its
  /// directory, whom root chose. Paths below the working directory that other users made are not tried. A caller that
  /// names a socket, by `path` or `ROOST_SOCKET`, has decided whom to trust.
  ///
  /// - Throws: a refusal `no-supervisor` that names every path tried and why it failed; `no-access` when the kernel
  ///   denies this user the socket at one of them.
  @EventLoopActor
  public static func connect(
    path: String?, environment: [String: String]
  ) async throws(Refusal) -> ByteStream {
    var tried: [String] = []
    var isForbidden = false
    let isNamed = path != nil || environment["ROOST_SOCKET"].map { !$0.isEmpty } ?? false
    for candidate in path.map({ [$0] }) ?? candidates(environment: environment) {
      if !isNamed, let complaint = complaint(aboutRelative: candidate) {
        tried.append(complaint)
        continue
      }
      do throws(LoopFault) {
        let stream = try await ByteStream.connect(path: candidate)
        guard !isNamed else { return stream }
        let user = try stream.peerUser()
        if user == geteuid() || user == 0 || candidate == system && user == ownerOfSystemDirectory() { return stream }
        stream.close()
        tried.append(
          "\(candidate) is served by uid \(user), not by you or root, so nothing was sent to it; if you trust it, name it: "
            + "ROOST_SOCKET=\(candidate)")
      } catch {
        // The system's Roost is not for everyone: a user whom it does not let in may have one too.
        isForbidden = isForbidden || error.isForbidden && candidate != system
        tried.append("\(error)")
      }
    }
    guard !isForbidden else {
      throw Refusal(
        .noAccess,
        "there is a supervisor's socket that this user may not use: Roost serves the user that started it. Tried: "
          + tried.joined(separator: "; "), outcome: .notStarted)
    }
    throw Refusal(
      .noSupervisor,
      "no supervisor answers. Start one with 'roostd' or 'make run'. Tried: \(tried.joined(separator: "; "))",
      outcome: .notStarted)
  }

  /// The owner of the directory of ``system``; nil if others than root can have made it. Only root writes to `/run`.
  private static func ownerOfSystemDirectory() -> UInt32? {
    var status = stat()
    guard lstat("/run", &status) == 0, status.st_uid == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_mode & (S_IWGRP | S_IWOTH) == 0, lstat("/run/roost", &status) == 0,
      status.st_mode & S_IFMT == S_IFDIR, status.st_mode & (S_IWGRP | S_IWOTH) == 0
    else { return nil }
    return status.st_uid
  }

  /// Why a socket below the working directory is not used: another user may own that directory, as with `/tmp`. Nil for
  /// absolute paths, for paths of our own user, and for paths that do not exist.
  private static func complaint(aboutRelative path: String) -> String? {
    guard !path.hasPrefix("/") else { return nil }
    var step = ""
    for name in path.split(separator: "/") {
      step += step.isEmpty ? "\(name)" : "/\(name)"
      var status = stat()
      guard lstat(step, &status) == 0 else { return nil }
      guard status.st_uid == geteuid() else { return "\(step) belongs to uid \(status.st_uid), and was left alone" }
      let type = status.st_mode & S_IFMT
      guard type != S_IFLNK else { return "\(step) is a link, and was left alone" }
      guard type != S_IFDIR || status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
        return "others may write to \(step), so it was left alone: chmod go-w \(step)"
      }
    }
    return nil
  }
}

extension RefusalCode {
  /// No supervisor listens on the socket.
  public static let noSupervisor: RefusalCode = "no-supervisor"
  /// The kernel denies this user the supervisor's socket.
  public static let noAccess: RefusalCode = "no-access"
  /// The connection to the supervisor ended.
  public static let disconnected: RefusalCode = "disconnected"
}
