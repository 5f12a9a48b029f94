import Contracts
import Cryptography
import Frames
import Glibc
import TestSupport
import Testing

/// schemathesis, which asks a service by its OpenAPI document, and does what the document forbids.
private enum Schemathesis {
  static let environment = SharedFolder.repository + "/.venv-schemathesis"
  static var isAvailable: Bool { access(environment + "/bin/schemathesis", X_OK) == 0 }

  static let checks = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection", "unsupported_method", "allow_header_conformance",
    "missing_required_header",
  ]

  /// Runs it, always with the same questions; what it says at the end, if that is no success.
  static func run(port: UInt16, isSigned: Bool, checks: [String], _ arguments: [String]) throws -> String? {
    let directory = try TemporaryDirectory()
    let common = [
      "--chdir=\(directory.path)", environment + "/bin/schemathesis",
      "--config-file", SharedFolder.repository + "/Tests/Peers/push_openapi.toml", "run",
      "http://127.0.0.1:\(port)/v1/openapi.json",
      "--generation-deterministic", "--no-color", "--generation-with-security-parameters", isSigned ? "false" : "true",
      "--checks", checks.joined(separator: ","),
    ]
    let process = try SpawnedProcess(
      "/usr/bin/env", common + arguments,
      environment: [
        "PATH=/usr/bin:/bin", "HOME=\(directory.path)", "PYTHONPATH=\(SharedFolder.repository)/Tests/Peers",
        "PYTHONDONTWRITEBYTECODE=1", "SCHEMATHESIS_HOOKS=push_openapi", "PUSH_SIGNED=\(isSigned ? 1 : 0)",
        "SCHEMATHESIS_TELEMETRY=false", "LC_ALL=C.UTF-8",
      ])
    let said = try process.readAllOutput(within: 300)
    let ending = try process.waitForEnd()
    return ending == .exited(0) ? nil : "\(ending): \(said.suffix(6_000))"
  }
}

extension ProcessTests {
  @Suite(
    "A push relay's OpenAPI document",
    .enabled(if: Schemathesis.isAvailable, "no .venv-schemathesis: run Scripts/python-environment.sh"))
  struct PushOpenAPITests {
    @Test(
      "is kept by those who sign: what it allows is taken, what it forbids is not, answers are as it says (case 58)")
    func signed() throws {
      // It comes from many networks: one may change its lists 240 times an hour, and no setting says otherwise.
      try PushRig.run(PushRig.unlimited.merging(["trusted-proxies": "[\"127.0.0.1\"]"]) { $1 }) { rig in
        // Whom all others of Tests/Peers/push_openapi.py wake.
        let first = Ed25519SecretKey(seed: SHA256.hash(Array("caller 0".utf8)))
        let body = #"{"platform":"ios","token":"\#(PushRig.appleToken())","device_id":"stays"}"#
        #expect(try rig.signed(first, "POST", "/register", body).status == 200)
        let complaint = try Schemathesis.run(
          port: rig.port, isSigned: true, checks: Schemathesis.checks + ["positive_data_acceptance"],
          ["--max-examples", "15", "--generation-codec", "ascii", "--phases", "coverage,fuzzing,stateful"])
        #expect(complaint == nil, "\(complaint ?? "")")
        // It has been inside, and limits have not hidden what is there.
        let status = try rig.status()
        #expect(status.devices > 0 && status.accepted > 0 && status.refused["rate_limited"] == nil, "\(status)")
      }
    }

    @Test("is kept by those who do not sign: they get nowhere, and are told so as it says (case 58)")
    func unsigned() throws {
      try PushRig.run(PushRig.unlimited) { rig in
        let complaint = try Schemathesis.run(
          port: rig.port, isSigned: false, checks: Schemathesis.checks + ["ignored_auth"],
          ["--max-examples", "10", "--phases", "coverage,fuzzing"])
        #expect(complaint == nil, "\(complaint ?? "")")
        let status = try rig.status()
        #expect(status.devices == 0 && status.accepted == 0 && status.refused["rate_limited"] == nil, "\(status)")
      }
    }
  }
  @Suite("What a push relay's OpenAPI document says")
  struct PushDocumentTests {
    @Test("is both versions of the signature, every word of a refusal, and what is taken of each kind")
    func document() throws {
      try PushRig.run { rig in
        let document = try rig.send("GET", "/openapi.json").json
        let schemas = try #require(document["components"]?["schemas"])
        guard case .array(let codes)? = schemas["Error"]?["properties"]?["error"]?["enum"] else {
          return #expect(Bool(false), "no words of refusals")
        }
        // Those of the page for authors of clients.
        let page = try #require(SharedFolder.bytes(ofFile: SharedFolder.repository + "/docs/push-api.md"))
        let words = String(decoding: page, as: UTF8.self).matches(of: /\| [45]\d\d \| `([a-z_]+)` \|/).map {
          JSONValue.string(String($0.output.1))
        }
        #expect(Set(codes) == Set(words) && codes.count == Set(codes).count && codes.count > 15, "\(codes)")
        guard case .object(let schemes)? = document["components"]?["securitySchemes"] else {
          return #expect(Bool(false), "no schemes")
        }
        let names = schemes.values.map { $0.text("name") }
        #expect(names.contains("X-Pubky-Version") && names.contains("X-Pubky-Audience"), "\(names)")
        for (path, method) in [("/register", "post"), ("/wake", "post"), ("/contacts", "put")] {
          guard case .array(let ways)? = document["paths"]?[path]?[method]?["security"] else {
            return #expect(Bool(false), "no security at \(path)")
          }
          #expect(ways.contains { $0["version"] != nil && $0["audience"] != nil && $0["pubky"] != nil }, "\(path)")
          #expect(ways.contains { $0["version"] == nil && $0["pubky"] != nil }, "\(path)")
        }
        #expect(schemas["Lists"]?.text("description").contains("stays as it was") == true)
        let sender = schemas["Wake"]?["properties"]?["sender_pubkey"]?.text("$ref")
        #expect(sender == "#/components/schemas/PubkyKey" && schemas["PubkyKey"] != nil)
        let rules = schemas["Apple"]?["properties"]?["rules"]?.text("$ref").split(separator: "/").last.map(String.init)
        #expect(schemas[try #require(rules)]?["nullable"] == .bool(true) && schemas["Rules"]?["nullable"] == nil)
        guard case .array(let forms)? = schemas["Subscription"]?["anyOf"] else {
          return #expect(Bool(false), "one form of a subscription")
        }
        #expect(forms.count == 3)
        // Whatever is referred to is there.
        let text = String(decoding: JSONPayload.encode(document), as: UTF8.self).replacing("\\/", with: "/")
        for name in text.matches(of: /"#\/components\/schemas\/([A-Za-z]+)"/).map({ String($0.output.1) }) {
          #expect(schemas[name] != nil, "\(name)")
        }
      }
    }

    @Test("of Web Push's subscriptions is true of each of their forms")
    func subscriptions() throws {
      try PushRig.run { rig in
        let subscription = try #require(rig.fakes.subscriptions.first)
        let endpoint = #""endpoint":"\#(subscription.endpoint)""#
        let keys = #""p256dh":"\#(subscription.p256dh)","auth":"\#(subscription.auth)""#
        let nested = #"{\#(endpoint),"expirationTime":null,"keys":{\#(keys)}}"#
        let quoted = "\"" + nested.replacing("\"", with: "\\\"") + "\""
        for token in [nested, "{\(endpoint),\(keys)}", quoted] {
          let body = #"{"platform":"webpush","token":\#(token),"rules":null}"#
          let answer = try rig.signed(.generate(), "POST", "/register", body)
          #expect(answer.status == 200, "\(token): \(answer.text)")
        }
      }
    }
  }
}
