import TestSupport

extension RunningRoost {
  /// Starts `roost` for this one; its standard error is told with its output.
  func startTool(_ arguments: [String]) throws -> SpawnedProcess {
    try SpawnedProcess(
      SpawnedProcess.builtProgram("roost"), arguments,
      environment: ["PATH=/usr/bin:/bin", "ROOST_SOCKET=\(socket)", "COLUMNS=200"])
  }

  /// What `roost` says, and how it ends.
  func tool(_ arguments: [String]) throws -> (output: String, ending: SpawnedProcess.Ending) {
    let process = try startTool(arguments)
    return (try process.readAllOutput(within: 60), try process.waitForEnd())
  }
}
