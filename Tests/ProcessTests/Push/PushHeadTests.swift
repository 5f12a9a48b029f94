import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("What a push relay does not take")
  struct PushHeadTests {
    private let phone = Ed25519SecretKey.generate()
    private let friend = Ed25519SecretKey.generate()

    @Test("is a request of which a bit was changed anywhere, after it was signed (case 15)")
    func flipped() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        let body = Array(PushRig.body(to: phone, by: friend).utf8)
        let fields = PushRig.signature(friend, "POST", "/wake", body)
        func refused(_ method: String, _ path: String, _ fields: [String], _ body: [UInt8], _ what: String) throws {
          let answer = try rig.send(method, path, body, fields: fields)
          let words = ["invalid_signature", "expired_timestamp"]
          #expect(answer.status == 401 && words.contains(answer["error"]), "\(what): \(answer.status) \(answer.text)")
        }
        for place in stride(from: 0, to: body.count, by: 7) {
          var other = body
          other[place] ^= 1
          try refused("POST", "/wake", fields, other, "body at \(place)")
        }
        for (index, field) in fields.enumerated() {
          let start = field.utf8.count - (field.split(separator: " ").last?.utf8.count ?? 0)
          for place in stride(from: start, to: field.utf8.count, by: index == 1 ? 1 : 5) {
            var bytes = Array(field.utf8)
            bytes[place] ^= 1
            var other = fields
            other[index] = String(decoding: bytes, as: UTF8.self)
            try refused("POST", "/wake", other, body, other[index])
          }
        }
        try refused("POST", "/register", fields, body, "path")
        try refused("POST", "/unregister", fields, body, "path")
        try refused("DELETE", "/register", PushRig.signature(phone, "POST", "/register", body), body, "method")
        try refused("PUT", "/contacts", PushRig.signature(phone, "GET", "/contacts", body), body, "method")
        #expect(try rig.send("POST", "/wake", body, fields: fields).status == 200, "nothing was changed in this one")
      }
    }

    @Test("is a body beyond its bound, which it refuses without waiting for the rest (cases 21, 24)")
    func large() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        func head(_ method: String, _ path: String, _ more: String) -> [UInt8] {
          let lines = ["\(method) /v1\(path) HTTP/1.1", "Host: push.example", more, "Content-Type: application/json"]
          return Array((lines + PushRig.signature(phone, method, path, []) + ["", ""]).joined(separator: "\r\n").utf8)
        }
        let bounds = [
          ("POST", "/wake", 16_384), ("POST", "/register", 16_384), ("DELETE", "/register", 16_384),
          ("PUT", "/contacts", 163_840), ("PUT", "/rules", 163_840), ("GET", "/contacts", 0),
          ("POST", "/nowhere", 16_384),
        ]
        for (method, path, bound) in bounds {
          for length in [bound + 1, 1 << 20, 1 << 40] {
            // The head, a few bytes, and no more: the answer comes all the same, and the connection ends.
            let answer = try rig.raw(head(method, path, "Content-Length: \(length)") + Array(#"{"a":1"#.utf8))
            #expect(answer.status == (path == "/nowhere" ? 404 : 413), "\(method) \(path) \(length): \(answer.text)")
            #expect(answer.head.lowercased().contains("connection: close"))
          }
          guard bound > 0, path != "/nowhere" else { continue }
          let whole = [UInt8](repeating: 0x20, count: bound)
          let answer = try rig.raw(head(method, path, "Connection: close\r\nContent-Length: \(bound)") + whole)
          #expect(answer.status == 401, "one that fits is read: \(answer.text)")
        }
        // A nonce of a megabyte, all of it sent; who sends it may be cut off while it does.
        let nonce = Array((#"{"nonce":""# + String(repeating: "a", count: 1 << 20) + #""}"#).utf8)
        let client = try PlainClient(port: rig.port)
        do { try client.send(head("POST", "/wake", "Content-Length: \(nonce.count)") + nonce) } catch {
          #expect("\(error)".contains("EPIPE") || "\(error)".contains("write"), "\(error)")
        }
        #expect(try rig.status().refused["payload_too_large"] ?? 0 >= 16)
      }
    }

    @Test("is a body in pieces that never ends, or of another type than JSON (case 24)")
    func unbounded() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        let fields = PushRig.signature(phone, "POST", "/register", [])
        func head(_ more: [String]) -> [UInt8] {
          let lines = ["POST /v1/register HTTP/1.1", "Host: push.example"] + fields + more + ["", ""]
          return Array(lines.joined(separator: "\r\n").utf8)
        }
        let client = try PlainClient(port: rig.port)
        try client.send(head(["Transfer-Encoding: chunked", "Content-Type: application/json"]))
        for _ in 0..<17 { try client.send(Array("400\r\n".utf8) + [UInt8](repeating: 0x20, count: 1_024) + [13, 10]) }
        let answer = try PushRig.answer(try client.answer())
        #expect(answer.status == 413 && answer["error"] == "payload_too_large", "\(answer.text)")

        let body = Array(#"{"platform":"ios","token":"\#(PushRig.appleToken())"}"#.utf8)
        let types = [
          ("text/plain", 400), ("application/x-www-form-urlencoded", 400), ("application/jsonp", 400),
          ("multipart/form-data; boundary=a", 400), ("application/json; charset=utf-8", 200), ("APPLICATION/JSON", 200),
        ]
        for (type, status) in types {
          let head =
            PushRig.signature(phone, "POST", "/register", body) + [
              "Content-Type: \(type)", "Content-Length: \(body.count)", "Connection: close", "", "",
            ]
          let lines = (["POST /v1/register HTTP/1.1", "Host: push.example"] + head).joined(separator: "\r\n")
          let answer = try rig.raw(Array(lines.utf8) + body)
          #expect(answer.status == status, "\(type): \(answer.status) \(answer.text)")
        }
        // In pieces that end it is as good as in one.
        let text =
          ["Transfer-Encoding: chunked", "Connection: close"] + PushRig.signature(phone, "POST", "/register", body)
        let pieces =
          body.reduce(into: [UInt8]()) { $0 += Array("1\r\n".utf8) + [$1, 13, 10] } + Array("0\r\n\r\n".utf8)
        let lines = (["POST /v1/register HTTP/1.1", "Host: push.example"] + text + ["", ""]).joined(separator: "\r\n")
        let whole = try rig.raw(Array(lines.utf8) + pieces)
        #expect(whole.status == 200, "\(whole.text)")
      }
    }

    @Test("is JSON that two programs could read in two ways (case 23)")
    func oddities() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        let token = PushRig.appleToken()
        let good = #""platform":"ios","token":"\#(token)""#
        let (deep, up) = (String(repeating: "[", count: 4_000), String(repeating: "]", count: 4_000))
        let texts: KeyValuePairs<String, String> = [
          "a member twice": #"{\#(good),"platform":"ios"}"#,
          "a member twice, further in": #"{\#(good),"x":[{"a":1,"\u0061":1}]}"#,
          "depth": #"{\#(good),"x":\#(deep)"#, "closed depth": #"{\#(good),"x":\#(deep)\#(up)}"#,
          "1e400": #"{\#(good),"x":1e400}"#, "NaN": #"{\#(good),"x":NaN}"#, "an array": "[{\(good)}]",
          "a text": #""a""#, "null": "null", "nothing": "", "white space": " \n", "something behind": "{\(good)}x",
          "two": "{\(good)}{}", "a comma too many": "{\(good),}", "a comment": "{/**/\(good)}",
          "NUL": "{\(good),\"x\":\"\0\"}", "half a surrogate": #"{\#(good),"x":"\ud800"}"#,
          "quotes of another kind": "{'platform':'ios'}",
        ]
        func around(_ bytes: [UInt8]) -> [UInt8] { Array(#"{\#(good),"x":""#.utf8) + bytes + Array(#""}"#.utf8) }
        var odd: [(String, [UInt8])] = texts.map { ($0.key, Array($0.value.utf8)) }
        odd.append(("invalid UTF-8", around([0xC3, 0x28])))
        odd.append(("over-long UTF-8", around([0xC0, 0xAF])))
        odd.append(("a mark", [0xEF, 0xBB, 0xBF] + Array("{\(good)}".utf8)))
        odd.append(("UTF-16", "{\(good)}".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }))
        for (name, body) in odd {
          let answer = try rig.send(
            "POST", "/register", body, fields: PushRig.signature(phone, "POST", "/register", body))
          #expect(
            answer.status == 400 && answer["error"] == "invalid_request", "\(name): \(answer.status) \(answer.text)")
        }
        #expect(try rig.status().devices == 0)
        let fine = Array("\n{ \(good) , \"x\" : [1e3, -0, {\"é\":\"\\ud83d\\ude00\"}] }\r\n".utf8)
        let answer = try rig.send(
          "POST", "/register", fine, fields: PushRig.signature(phone, "POST", "/register", fine))
        #expect(answer.status == 200, "\(answer.text)")
      }
    }
  }
}
