import Bus
import EventLoop
import Frames
import Glibc
import TestSupport
import Testing

/// Servers that are not the caller's own, at places where a supervisor's socket is looked for. They need a second uid.
@Suite(.serialized, .enabled(if: geteuid() == 0, "only root can start a program of another user"))
struct ForeignServerTests {
  /// The uid of nobody, who owns nothing.
  static let nobody: UInt32 = 65_534

  /// Listens at a path as a user, and says of each connection how much was sent over it before it ended.
  private func serve(_ path: String, as user: UInt32) throws -> SpawnedProcess {
    let script = """
      import os, socket, sys
      os.setgid(\(user)); os.setuid(\(user))
      server = socket.socket(socket.AF_UNIX)
      server.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o666); server.listen(); print("listening", flush=True)
      while True:
        connection, _ = server.accept()
        connection.settimeout(5)
        print("came", len(connection.recv(65536)), flush=True)
        connection.close()
      """
    let server = try SpawnedProcess("/usr/bin/python3", ["-c", script, path])
    _ = try server.readLine { $0 == "listening" }
    return server
  }

  /// A directory in another that everybody may pass, owned by a user.
  private func directory(_ name: String, in parent: String, of user: UInt32) throws -> String {
    let path = parent + "/" + name
    try #require(chmod(parent, 0o755) == 0 && mkdir(path, 0o755) == 0 && chown(path, user, user) == 0)
    return path
  }

  @Test("A server of another user at a usual place is told nothing, and the refusal says how to name it")
  func foreign() async throws {
    let directory = try TemporaryDirectory()
    let path = try self.directory("roost", in: directory.path, of: Self.nobody) + "/roost.sock"
    let server = try serve(path, as: Self.nobody)
    let parent = directory.path
    let refusal = try await LoopThread.run { () -> Refusal? in
      do throws(Refusal) {
        _ = try await BusSocket.connect(path: nil, environment: ["XDG_RUNTIME_DIR": parent])
        return nil
      } catch {
        return error
      }
    }
    #expect(refusal?.code == .noSupervisor)
    #expect(refusal?.message.contains("is served by uid 65534, not by you or root") == true, "\(refusal as Any)")
    #expect(refusal?.message.contains("ROOST_SOCKET=\(path)") == true)
    #expect(try server.readLine { $0.hasPrefix("came") } == "came 0")
  }

  @Test("A socket that was named is spoken to, whoever serves it", arguments: [true, false])
  func named(byVariable: Bool) async throws {
    let directory = try TemporaryDirectory()
    let path = try self.directory("roost", in: directory.path, of: Self.nobody) + "/roost.sock"
    let server = try serve(path, as: Self.nobody)
    try await LoopThread.run {
      let environment = byVariable ? ["ROOST_SOCKET": path] : [:]
      let stream = try await BusSocket.connect(path: byVariable ? nil : path, environment: environment)
      #expect(try stream.peerUser() == Self.nobody)
      [UInt8](repeating: 0, count: 7).withUnsafeBytes { stream.write($0) }
      stream.flushAndClose()
    }
    #expect(try server.readLine { $0.hasPrefix("came") } == "came 7")
  }

  @Test("A socket below the working directory is left alone where its directory is another user's")
  func relative() throws {
    let directory = try TemporaryDirectory()
    let run = try self.directory("run", in: directory.path, of: Self.nobody)
    // Our own server, so that its place alone is what is wrong.
    let server = try serve(run + "/roost.sock", as: 0)
    func status() throws -> String {
      let program = SpawnedProcess.builtProgram("roost")
      let shell = try SpawnedProcess(
        "/bin/sh", ["-c", "cd \(directory.path) && exec \(program) status"],
        environment: ["PATH=/usr/bin:/bin", "HOME=\(directory.path)"])
      return words(try shell.readAllOutput())
    }
    let told = try status()
    #expect(told.contains("run belongs to uid 65534, and was left alone"), "\(told)")
    try #require(chown(run, 0, 0) == 0)
    // What answers is no supervisor, but now it is asked.
    _ = try status()
    #expect(try server.readLine { $0.hasPrefix("came") } != "came 0")
  }

  private func words(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

  @Test("A socket that this user may not use is told as such, with the exit code of what is not permitted")
  func forbidden() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/roost.sock"
    let server = try serve(path, as: 0)
    try #require(chmod(path, 0o600) == 0 && chmod(directory.path, 0o755) == 0)
    let script = "import os, sys; os.setgid(65534); os.setuid(65534); os.execv(sys.argv[1], sys.argv[1:])"
    let roost = SpawnedProcess.builtProgram("roost")
    let process = try SpawnedProcess("/usr/bin/python3", ["-c", script, roost, "status", "--socket", path])
    let told = try process.readAllOutput()
    #expect(told.contains("this user may not use"), "\(told)")
    #expect(try process.waitForEnd() == .exited(4))
    server.send(SIGKILL)
  }
}
