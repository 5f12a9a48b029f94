import Contracts
import TestSupport
import Testing

extension ProcessTests {
  /// `clients/python`, by a program that uses it.
  @Suite("The client for Python")
  struct PythonClientTests {
    private static let folder = SharedFolder.repository + "/clients/python"

    /// Runs the program with the client that is in this folder.
    private func run(in roost: RunningRoost, clientIn folder: String) throws {
      let program = try LineProgram(
        "/usr/bin/env", ["python3", SharedFolder.repository + "/Tests/Peers/python_client.py"],
        environment: [
          "PATH=/usr/bin:/bin", "PYTHONPATH=\(folder)", "PYTHONDONTWRITEBYTECODE=1", "ROOST_SOCKET=\(roost.socket)",
          "ROOST_PROGRAM=\(SpawnedProcess.builtProgram("roost"))",
        ])
      try program.line(with: "kill", within: 60)
      try roost.killDaemonAndWorkers()
      try program.send("kill")
      try program.line(with: "start", within: 60)
      try roost.startAgain()
      try program.send("start")
      let (output, ending) = try program.finish()
      #expect(output == "kill\nstart\ndone\n" && ending == .exited(0), "\(output)")
    }

    @Test("calls, reads streams, subscribes, cancels, and continues after the death of roostd and of its own process")
    func program() throws {
      var layout = Layout.storeAndSigner
      layout.workers.append(Layout.Worker())
      try withRoost(layout) { try run(in: $0, clientIn: Self.folder) }
    }

    @Test("is what docs/methods.json says")
    func current() throws {
      let check = try SpawnedProcess("/usr/bin/env", ["python3", Self.folder + "/generate.py", "--check"])
      #expect(try check.readAllOutput() == "")
      #expect(try check.waitForEnd() == .exited(0))
    }

    @Test(
      "is installed by pip from its folder, without a network",
      .enabled(if: PythonPeer.isAvailable, "'make python' makes the environment"))
    func installed() throws {
      let directory = try TemporaryDirectory()
      let pip = try SpawnedProcess(
        PythonPeer.interpreter,
        [
          "-m", "pip", "install", "--disable-pip-version-check", "--root-user-action=ignore", "--quiet", "--no-index",
          "--no-cache-dir",
          "--target", directory.path + "/site", Self.folder,
        ], environment: ["PATH=/usr/bin:/bin", "HOME=\(directory.path)", "PYTHONDONTWRITEBYTECODE=1"])
      #expect(try pip.readAllOutput(within: 60) == "")
      #expect(try pip.waitForEnd() == .exited(0))
      let program = try SpawnedProcess(
        PythonPeer.interpreter,
        ["-c", "import roost, importlib.metadata as m; print(roost.__file__, m.version('roost-client'))"],
        environment: ["PYTHONPATH=\(directory.path)/site"])
      #expect(try program.readAllOutput() == "\(directory.path)/site/roost/__init__.py \(RoostVersion.text)\n")
    }
  }
}
