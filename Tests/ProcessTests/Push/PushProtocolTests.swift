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
  }
}
