import TestSupport
import Testing

extension Layout {
  /// The shipped `supervisor.conf` with everything that it starts, at these ports and with these relays alone.
  static func shipped(relays: [String], port: UInt16, page: UInt16) throws -> Layout {
    let path = SharedFolder.repository + "/supervisor.conf"
    var text = String(decoding: try #require(SharedFolder.bytes(ofFile: path)), as: UTF8.self)
    let list = "[" + relays.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
    let programs = SpawnedProcess.builtProgram("roostd").split(separator: "/").dropLast().joined(separator: "/")
    for (shipped, own) in [
      ("#state-directory = \"run/state\"", "state-directory = \"@DIRECTORY@/state\""),
      ("#run-directory = \"run\"", "run-directory = \"@DIRECTORY@/run\""),
      ("#log-directory = \"run/logs\"", "log-directory = \"@DIRECTORY@/log\""),
      ("#socket = \"run/roost.sock\"", "socket = \"@DIRECTORY@/roost.sock\""),
      ("#program-directories = [\".build/release\"]", "program-directories = [\"/\(programs)\"]"),
      ("#listen = [\"127.0.0.1:4869\", \"[::1]:4869\"]", "listen = [\"127.0.0.1:\(port)\"]"),
      ("#listen = \"127.0.0.1:4868\"", "listen = \"127.0.0.1:\(page)\""),
    ] {
      #expect(text.contains(shipped), "supervisor.conf no longer has \(shipped)")
      text.replace(shipped, with: own)
    }
    text.replace(/\n(relays|indexers) = \[[^\]]*\]/) { "\n\($0.output.1) = []" }
    text.replace(/\nrelays = \[\]/, with: "\nrelays = \(list)", maxReplacements: 1)
    // As many workers as the file has: RunningRoost reckons with their descriptors.
    let workers = text.matches(of: /\n\[worker\.[a-z-]+\]/).count
    return Layout(workers: (0..<workers).map { Worker(name: "\($0)") }, whole: text)
  }
}
