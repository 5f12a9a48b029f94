import Contracts
import Frames
import TestSupport
import Testing

extension ProcessTests {
  /// `roost pipe` and `supervisor.*`, as programs of others use them.
  @Suite("Lines of JSON instead of frames")
  struct PipeTests {
    @Test("What a worker says while it works is a line before its answer")
    func progress() throws {
      try withRoost { roost in
        let request = #"{"id":"a","method":"example.progress","params":{"parts":3}}"#
        let output = try roost.command(["pipe"], input: request + "\n").output
        let lines = output.split(separator: "\n")
        // Of what comes faster than it can be written the last is enough.
        #expect((2...4).contains(lines.count), "\(output)")
        #expect(lines.dropLast().allSatisfy { $0.hasPrefix(#"{"id":"a","progress":{"text":"#) }, "\(output)")
        #expect(lines.dropLast().last == #"{"id":"a","progress":{"text":"3"}}"#)
        #expect(lines.last == #"{"id":"a","result":{"parts":3}}"#)
      }
    }

    @Test("An argument that a method of the supervisor does not have is refused, with the nearest one")
    func supervisorArguments() throws {
      try withRoost { roost in
        let client = try roost.client()
        for (method, json, message) in [
          ("stop", #"{"worker":"example","drainMiliseconds":1}"#, "has no argument 'drainMiliseconds'; did you mean"),
          ("start", #"{"worker":"example","hold":true}"#, "has no argument 'hold'"),
          ("status", #"{"memroy":true}"#, "did you mean 'memory'?"), ("doctor", #"{"x":1}"#, "it takes none"),
          ("why", "{}", "'worker' is missing"), ("shutdown", #"{"now":true}"#, "it takes none"),
          ("logs", #"{"lines":1,"lines":2}"#, "'lines' is there twice"), ("reload", #"{"dry-run":true}"#, "dryRun"),
        ] {
          let refusal = try client.call("supervisor." + method, json).refusal
          #expect(refusal?.code == .badRequest && refusal?.outcome == .notStarted, "\(method)")
          #expect(refusal?.message.contains(message) == true, "\(refusal?.message ?? method)")
        }
      }
    }
  }
}
