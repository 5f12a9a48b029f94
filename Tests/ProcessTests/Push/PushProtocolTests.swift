import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay's HTTP/1.1")
  struct PushProtocolTests {
    private let phone = Ed25519SecretKey.generate()

    private var registration: [UInt8] { Array(#"{"platform":"ios","token":"\#(PushRig.appleToken())"}"#.utf8) }

    /// The head of a signed registration, for a body that comes later.
    private func head(_ body: [UInt8], _ more: [String], version: String = "1.1") -> String {
      let lines = ["POST /v1/register HTTP/\(version)"] + more + PushRig.signature(phone, "POST", "/register", body)
      return (lines + ["", ""]).joined(separator: "\r\n")
    }

    private static let waiting = ["Host: push.example", "Content-Type: application/json", "Expect: 100-Continue"]

    // MARK: Expect

    @Test("tells who waits with a body to go on, before it has any of it, and in the order of what was asked")
    func expectation() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        let line = try PushLine(port: rig.port)
        for announced in ["Content-Length: \(registration.count)", "Transfer-Encoding: chunked"] {
          let body = registration
          line.send(PushRig.health + head(body, Self.waiting + [announced]))
          #expect(try line.answer()?.status == 200, "what was asked before is answered before")
          #expect(try line.answer()?.head == "HTTP/1.1 100 Continue")
          let isChunked = announced.hasSuffix("chunked")
          line.send(isChunked ? Array("\(String(body.count, radix: 16))\r\n".utf8) + body + "\r\n0\r\n\r\n".utf8 : body)
          let answer = try #require(try line.answer())
          #expect(answer.status == 200 && answer["status"] == "registered", "\(answer.text)")
        }
      }
    }

    @Test("does not tell who waits with a body that is too long to go on, nor who speaks HTTP/1.0, nor who has none")
    func unwanted() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        let bodies = [("POST", "/wake", 16_385), ("PUT", "/contacts", 163_841), ("GET", "/contacts", 1)]
        for (method, path, length) in bodies {
          let line = try PushLine(port: rig.port)
          line.send(PushRig.request(method, path, fields: ["Expect: 100-continue", "Content-Length: \(length)"]))
          let answer = try #require(try line.answer())
          #expect(answer.status == 413 && answer["error"] == "payload_too_large", "\(answer.head) \(answer.text)")
          try line.awaitEnd()
        }
        let line = try PushLine(port: rig.port)
        line.send(PushRig.request("GET", "/info", fields: ["Expect: 100-continue"]))
        #expect(try line.answer()?.status == 200)
        let body = registration
        let old = try PushLine(port: rig.port)
        old.send(Array(head(body, Self.waiting + ["Content-Length: \(body.count)"], version: "1.0").utf8) + body)
        #expect(try old.answer()?.status == 200, "to HTTP/1.0 the answer is the first that comes")
      }
    }

    @Test(
      "goes with curl, which would else wait for a second, and with a client that waits for ever",
      .enabled(if: access("/usr/bin/curl", X_OK) == 0 && access("/usr/bin/python3", X_OK) == 0))
    func others() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        let body = registration
        let fields = (PushRig.signature(phone, "POST", "/register", body) + ["Expect: 100-continue"]).flatMap {
          ["-H", $0]
        }
        let curl = try SpawnedProcess(
          "/usr/bin/curl",
          ["-sv", "--expect100-timeout", "30", "-H", "Content-Type: application/json"] + fields + [
            "--data-binary", String(decoding: body, as: UTF8.self), "http://127.0.0.1:\(rig.port)/v1/register",
          ])
        let told = try curl.readAllOutput()
        #expect(told.contains("100 Continue") && told.contains(#""status":"registered""#), "\(told)")
        let python = try SpawnedProcess(
          "/usr/bin/python3",
          ["-c", Self.patientClient, "\(rig.port)", String(decoding: body, as: UTF8.self)]
            + PushRig.signature(phone, "POST", "/register", body))
        let heard = try python.readAllOutput()
        #expect(heard.contains("continue, then 200"), "\(heard)")
      }
    }

    /// http.client passes over 100 by itself, so what is before its answer is read off the socket.
    private static let patientClient = """
      import http.client, sys
      port, body = int(sys.argv[1]), sys.argv[2].encode()
      connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
      connection.putrequest("POST", "/v1/register")
      for name, value in (field.split(": ", 1) for field in sys.argv[3:]):
          connection.putheader(name, value)
      connection.putheader("Content-Type", "application/json")
      connection.putheader("Content-Length", str(len(body)))
      connection.putheader("Expect", "100-continue")
      connection.endheaders()
      told = b""
      while not told.endswith(b"\\r\\n\\r\\n"):
          told += connection.sock.recv(1)
      assert told.startswith(b"HTTP/1.1 100 "), told
      connection.send(body)
      print("continue, then", connection.getresponse().status)
      """

    // MARK: Host

    @Test("asks for one Host field, in its own words, and of HTTP/1.0 for none")
    func hosts() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        func ask(_ hosts: [String], version: String = "1.1") throws -> PushRig.Answer? {
          let line = try PushLine(port: rig.port)
          line.send((["GET /v1/health HTTP/\(version)"] + hosts + ["", ""]).joined(separator: "\r\n"))
          return try line.answer()
        }
        for hosts in [[], ["Host: a", "Host: a"], ["Host: a", "host: b"], ["Host: a b"], ["Host: a/b"]] {
          let answer = try #require(try ask(hosts))
          #expect(answer.status == 400 && answer["error"] == "invalid_request", "\(hosts): \(answer.head)")
          #expect(answer["message"].contains("Host field"), "\(answer.text)")
        }
        for host in ["Host: a", "Host: 127.0.0.1:4870", "Host:", "host: [::1]:80"] {
          #expect(try ask([host])?.status == 200, "\(host)")
        }
        #expect(try ask([], version: "1.0")?.status == 200)
        #expect(try ask(["Host: a", "Host: b"], version: "1.0")?.status == 400, "two are two hosts in any version")
        #expect(try rig.status().refused["invalid_request"] == 6)
      }
    }

    // MARK: Methods

    @Test("answers HEAD as GET, without what would follow the head, signed requests too")
    func heads() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        func fields(_ answer: PushRig.Answer) -> [Substring] {
          answer.head.split(separator: "\r\n").filter { !$0.lowercased().hasPrefix("date:") }
        }
        for path in ["/info", "/health", "/ready", "/openapi.json", "/nothing", "/contacts"] {
          let (get, head) = (try rig.send("GET", path), try rig.send("HEAD", path))
          #expect(head.text == "" && !get.text.isEmpty, "\(path): \(head.text)")
          #expect(fields(head) == fields(get), "\(path)")
        }
        let (get, head) = (try rig.signed(phone, "GET", "/contacts"), try rig.signed(phone, "HEAD", "/contacts"))
        #expect(get.status == 200 && fields(head) == fields(get) && head.text == "", "\(head.head)")
        let crossed = PushRig.signature(phone, "GET", "/contacts", [])
        #expect(try rig.send("HEAD", "/contacts", fields: crossed).status == 401, "GET was signed")
        // What is asked behind it is answered right behind the head.
        let client = try PlainClient(port: rig.port)
        let next = PushRig.request("GET", "/health", fields: ["Connection: close"])
        try client.send(PushRig.request("HEAD", "/health") + next)
        let answers = try client.answer().split(separator: "\r\n\r\n")
        #expect(answers.count == 3 && answers[1].hasPrefix("HTTP/1.1 200") && answers[2] == #"{"status":"ok"}"#)
        #expect(try rig.send("HEAD", "/wake").status == 405)
        #expect(try rig.send("POST", "/info", []).head.contains("Allow: GET, HEAD"))
      }
    }

    @Test("says of a body that is not there what is missing, whether its length was told or not")
    func nothing() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        for (method, path) in [("POST", "/register"), ("POST", "/wake"), ("PUT", "/contacts"), ("PUT", "/rules")] {
          for body in [nil, []] as [[UInt8]?] {
            let fields = PushRig.signature(phone, method, path, [])
            let answer = try rig.send(method, path, body, fields: fields)
            // Rules are for Nostr keys, and that is said first.
            let expected = path == "/rules" ? (401, "invalid_signature") : (400, "invalid_request")
            #expect((answer.status, answer["error"]) == expected, "\(method) \(path): \(answer.text)")
            #expect(path == "/rules" || answer["message"].contains("the body is empty"), "\(answer.text)")
          }
        }
      }
    }
  }
}
