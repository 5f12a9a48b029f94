import TestSupport
import Testing

extension ProcessTests {
  /// What an author in another language has: `docs/methods.json`, and frames.
  @Suite("A client made of docs/methods.json")
  struct GeneratedClientTests {
    @Test("Methods answer as the document says, and refuse what it does not allow")
    func calls() throws {
      var layout = ServingRig.layout(["customers": "\"accounts\""])
      for name in ["dvm-tracker", "outbox-planner"] {
        var worker = Layout.Worker(name: name)
        worker.keys = [
          "role": "\"\(name)\"", "program": "\"\(SpawnedProcess.builtProgram(name))\"", "sandbox": "\"try\"",
        ]
        layout.workers.append(worker)
      }
      try withRoost(layout) { roost in
        let process = try SpawnedProcess(
          "/usr/bin/env", ["python3", SharedFolder.repository + "/Tests/Peers/generated_client.py"],
          environment: ["ROOST_SOCKET=\(roost.socket)", "PATH=/usr/bin:/bin"])
        let said = try process.readAllOutput(within: 120)
        #expect(try process.waitForEnd() == .exited(0))
        #expect(said == "called 29\n", "\(said)")
      }
    }

    @Test("Wrong arguments are told before anything is asked, and so is a method that is not there")
    func command() throws {
      try withRoost(.store) { roost in
        func run(_ arguments: [String]) throws -> (String, SpawnedProcess.Ending) {
          let process = try SpawnedProcess(
            "/usr/bin/env", ["python3", SharedFolder.repository + "/examples/generated.py"] + arguments,
            environment: ["ROOST_SOCKET=\(roost.socket)", "PATH=/usr/bin:/bin"])
          return (try process.readAllOutput(), try process.waitForEnd())
        }
        let (count, ending) = try run(["store.count", #"{"filters":[{"kinds":[1]}]}"#])
        #expect(count.contains(#""count": 0"#) && ending == .exited(0), "\(count)")
        let (wrong, failed) = try run(["store.count", #"{"filters":7,"limits":1}"#])
        #expect(wrong.contains("arguments.filters is not array") && wrong.contains("arguments.limits is no member"))
        #expect(failed == .exited(1))
      }
    }
  }
}
