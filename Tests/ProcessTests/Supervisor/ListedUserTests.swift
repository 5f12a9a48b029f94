import Contracts
import Frames
import Glibc
import TestSupport
import Testing

extension ProcessTests {
  /// Users of `allow-uids`: they reach the socket, are clients, and nothing more.
  @Suite("Listed users", .enabled(if: geteuid() == 0, "only root can start a program of another user"))
  struct ListedUserTests {
    static let nobody = 65_534

    /// Says HELLO as nobody, with what is in its argument, and prints the type and the payload of the answer; then asks
    /// for a worker's place, if it was welcomed.
    static let script = """
      import json, os, socket, struct, sys
      os.setgid(\(nobody)); os.setuid(\(nobody))
      HEADER = struct.Struct("<IBBHIIQQIHHQ")
      def send(type, payload, **given):
        connection.sendall(HEADER.pack(44 + len(payload), 1, type, 0, 0, 0, given.get("id", 0), 0, 0, 0,
          given.get("method", 0), 0) + payload)
      def receive():
        head = HEADER.unpack(stream.read(48))
        return head[2], stream.read(head[0] - 44).decode()
      connection = socket.socket(socket.AF_UNIX)
      try: connection.connect(sys.argv[1])
      except OSError as error: sys.exit("unreachable " + error.strerror)
      stream = connection.makefile("rb")
      try: send(1, sys.argv[2].encode())
      except BrokenPipeError: pass  # Refused already; what was said is still there to be read.
      type, text = receive()
      print("answer", type, text if type == 10 else "")
      if type == 2:
        send(16, b'{"role":"example"}', id=1, method=json.loads(text)["registry"]["methods"]["supervisor.attach"]["number"])
        while type not in (17, 18): type, text = receive()
        print("attach", type, text)
      """

    private static func ask(_ socket: String, _ hello: String) throws -> String {
      try SpawnedProcess("/usr/bin/python3", ["-c", script, socket, hello]).readAllOutput()
    }

    private static let client = #"{"role":"client","name":"stranger"}"#

    /// The socket in the run directory, where nothing above it is closed.
    private static func layout(_ directory: TemporaryDirectory, listing uids: String) throws -> Layout {
      try #require(chmod(directory.path, 0o755) == 0)
      var layout = Layout.one()
      layout.supervisor["run-directory"] = "\"\(directory.path)/run\""
      layout.supervisor["socket"] = "\"\(directory.path)/run/roost.sock\""
      layout.supervisor["allow-uids"] = uids
      return layout
    }

    private static func mode(_ path: String) -> UInt32 {
      var status = stat()
      return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test("A user of allow-uids is a client, and neither asks for a worker's place nor takes one with another's token")
    func listed() throws {
      let directory = try TemporaryDirectory()
      let layout = try Self.layout(directory, listing: "[\(Self.nobody)]")
      try withRoost(layout) { roost in
        let told = try Self.ask(roost.socket, Self.client)
        #expect(told.contains("answer 2"), "\(told)")
        #expect(told.contains("attach 18") && told.contains("denied"), "\(told)")
        let answer = try roost.client().call("supervisor.attach", #"{"role":"example"}"#)
        let token = try JSONPayload.decode(AttachGrant.self, from: answer.terminal.payload).token
        let hello = #"{"role":"example","name":"example","methods":["example.echo"],"token":"\#(token)"}"#
        let refused = try Self.ask(roost.socket, hello)
        #expect(refused.contains("answer 10") && refused.contains("not-permitted"), "\(refused)")
        #expect(try roost.worker("example").state == "ready")
        #expect(Self.mode(directory.path + "/run/locks") == 0o700)
      }
    }

    @Test("An open connection of a user who is listed no longer ends at the reload, one that has said nothing as well")
    func opened() throws {
      let directory = try TemporaryDirectory()
      try withRoost(try Self.layout(directory, listing: "[\(Self.nobody)]")) { roost in
        let own = try roost.client()
        let script = """
          import os, socket, struct, sys
          os.setgid(\(Self.nobody)); os.setuid(\(Self.nobody))
          HEADER = struct.Struct("<IBBHIIQQIHHQ")
          silent, open = [socket.socket(socket.AF_UNIX) for _ in range(2)]
          for connection in silent, open: connection.connect(sys.argv[1])
          hello = b'{"role":"client","name":"stranger"}'
          open.sendall(HEADER.pack(44 + len(hello), 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0) + hello)
          stream = open.makefile("rb")
          print("told", HEADER.unpack(stream.read(48))[2], flush=True)
          rest = stream.read()
          print("ended", b"may not connect" in rest, b"may not connect" in silent.makefile("rb").read(), flush=True)
          """
        let other = try SpawnedProcess("/usr/bin/python3", ["-c", script, roost.socket])
        #expect(try other.readLine { $0.hasPrefix("told") } == "told 2")
        try roost.rewrite { $0.supervisor["allow-uids"] = "[1]" }
        #expect(try own.call("supervisor.reload").isResponse)
        #expect(try other.readLine { $0.hasPrefix("ended") } == "ended True True")
        #expect(try own.call("supervisor.status").isResponse)
      }
    }

    @Test("A user who is not listed does not reach the socket, and one who was listed no longer after a reload")
    func unlisted() throws {
      let directory = try TemporaryDirectory()
      try withRoost(try Self.layout(directory, listing: "[]")) { roost in
        #expect(Self.mode(roost.socket) == 0o600 && Self.mode(directory.path + "/run") == 0o700)
        #expect(try Self.ask(roost.socket, Self.client).contains("unreachable Permission denied"))
        try roost.rewrite { $0.supervisor["allow-uids"] = "[\(Self.nobody)]" }
        #expect(try roost.client().call("supervisor.reload").isResponse)
        #expect(try Self.ask(roost.socket, Self.client).contains("answer 2"))
        try roost.rewrite { $0.supervisor["allow-uids"] = "[1]" }
        #expect(try roost.client().call("supervisor.reload").isResponse)
        let told = try Self.ask(roost.socket, Self.client)
        #expect(told.contains("answer 10") && told.contains("uid 65534 may not connect"), "\(told)")
        try roost.rewrite { $0.supervisor["allow-uids"] = "[]" }
        #expect(try roost.client().call("supervisor.reload").isResponse)
        #expect(try Self.ask(roost.socket, Self.client).contains("unreachable Permission denied"))
      }
    }
  }
}
