import Contracts
import Cryptography
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and web pages of other origins")
  struct PushOriginTests {
    private let page = "https://app.example.org"

    private func lines(_ answer: PushRig.Answer) -> [String] {
      answer.head.split(separator: "\r\n").map { $0.lowercased() }
    }

    @Test("lets those of the list register, asked before as browsers ask, and shows them each answer")
    func listed() throws {
      try PushRig.run(["origins": "[\"http://localhost:3000\", \"\(page)\"]"]) { rig in
        for (path, methods) in [
          ("/register", "post, delete"), ("/unregister", "post"), ("/wake", "post"), ("/contacts", "get, head, put"),
          ("/rules", "get, head, put"), ("/info", "get, head"), ("/register?device_id=a", "post, delete"),
        ] {
          let fields = [
            "Origin: \(page)", "Access-Control-Request-Method: POST",
            "Access-Control-Request-Headers: content-type, x-pubky-pubkey",
          ]
          let answer = try rig.send("OPTIONS", path, fields: fields)
          #expect(answer.status == 204 && answer.text.isEmpty, "\(path): \(answer.head)")
          let head = lines(answer)
          #expect(head.contains("access-control-allow-origin: \(page)") && head.contains("vary: origin"), "\(path)")
          #expect(head.contains("access-control-allow-methods: \(methods)"), "\(path): \(head)")
          #expect(head.contains { $0.hasPrefix("access-control-allow-headers:") && $0.contains("x-pubky-signature") })
          #expect(!head.contains { $0.hasPrefix("content-") }, "\(head)")
        }
        let key = Ed25519SecretKey.generate()
        let body = Array(#"{"platform":"ios","token":"\#(PushRig.appleToken())"}"#.utf8)
        let signature = PushRig.signature(key, "POST", "/register", body)
        let registered = try rig.send("POST", "/register", body, fields: ["Origin: \(page)"] + signature)
        #expect(registered.status == 200 && lines(registered).contains("access-control-allow-origin: \(page)"))
        let refused = try rig.send("POST", "/register", body, fields: ["Origin: \(page)"])
        #expect(refused.status == 401 && lines(refused).contains("access-control-allow-origin: \(page)"))
        #expect(try rig.send("OPTIONS", "/nowhere", fields: ["Origin: \(page)"]).status == 404)

        // Others hear what they heard before.
        for fields in [[], ["Origin: https://other.example"], ["Origin: null"]] {
          let asked = try rig.send("OPTIONS", "/register", fields: fields)
          #expect(asked.status == 405 && lines(asked).contains("allow: post, delete"), "\(asked.head)")
          for answer in [asked, try rig.send("GET", "/info", fields: fields)] {
            let head = lines(answer)
            #expect(!head.contains { $0.hasPrefix("access-control") || $0.hasPrefix("vary") }, "\(head)")
          }
        }
      }
    }

    @Test("lets all in where all may, and none as shipped")
    func all() throws {
      try PushRig.run(["origins": "[\"*\"]"]) { rig in
        let asked = try rig.send("OPTIONS", "/register", fields: ["Origin: \(page)"])
        #expect(asked.status == 204 && lines(asked).contains("access-control-allow-origin: *"), "\(asked.head)")
        let answer = try rig.send("GET", "/info", fields: ["Origin: null"])
        #expect(answer.status == 200 && lines(answer).contains("access-control-allow-origin: *"), "\(answer.head)")
      }
      try PushRig.run { rig in
        let asked = try rig.send("OPTIONS", "/register", fields: ["Origin: \(page)"])
        #expect(asked.status == 405 && asked["error"] == "method_not_allowed", "\(asked.head)")
        #expect(!lines(asked).contains { $0.hasPrefix("access-control") })
      }
    }
  }
}
