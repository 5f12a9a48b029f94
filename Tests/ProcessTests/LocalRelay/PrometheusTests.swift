import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Debian's Prometheus: the system's, or what Scripts/prometheus.sh has unpacked.
private enum DebianPrometheus {
  static let folder: String? = ["/usr/bin", SharedFolder.repository + "/.prometheus/usr/bin"]
    .first { access($0 + "/prometheus", X_OK) == 0 && access($0 + "/promtool", X_OK) == 0 }

  /// What is installed for it.
  static let examples = SharedFolder.repository + "/packaging/prometheus"

  /// Runs promtool, with a file as its input if one is given; what it prints, and how it ended.
  static func check(
    _ arguments: [String], input: String? = nil
  ) throws -> (output: String, status: SpawnedProcess.Ending) {
    let tool = (folder ?? "") + "/promtool"
    let process =
      try input.map {
        try SpawnedProcess("/bin/sh", ["-c", "exec \"$0\" \"$@\" < '\($0)'", tool] + arguments)
      } ?? SpawnedProcess(tool, arguments)
    let output = try process.readAllOutput(within: 60)
    return (output, try process.waitForEnd())
  }
}

extension ProcessTests {
  @Suite(
    "Prometheus and a Roost",
    .enabled(if: DebianPrometheus.folder != nil, "no prometheus: run Scripts/prometheus.sh"))
  struct PrometheusTests {
    private func file(_ name: String, in roost: RunningRoost, _ text: String) throws -> String {
      let path = roost.directory.path + "/" + name
      let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      defer { Descriptors.close(file) }
      try Descriptors.writeAll(text, to: file)
      return path
    }

    private func metrics(_ port: UInt16, _ accept: String) throws -> (head: String, body: String) {
      let client = try PlainClient(port: port)
      try client.ask("/metrics", port: port, ["Connection: close", "Accept: \(accept)"])
      let answer = try client.answer()
      let end = try #require(answer.firstRange(of: "\r\n\r\n"))
      return (String(answer[..<end.lowerBound]), String(answer[end.upperBound...]))
    }

    @Test("promtool finds nothing in the figures, and each form comes when it is asked for")
    func forms() throws {
      try withLocalRelay { roost, port in
        let plain = try metrics(port, "text/plain;version=0.0.4")
        #expect(plain.head.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"))
        let found = try DebianPrometheus.check(
          ["check", "metrics"], input: try file("metrics.txt", in: roost, plain.body))
        #expect(found.status == .exited(0) && found.output.isEmpty, "\(found.output)")
        let open = try metrics(port, "application/openmetrics-text; version=1.0.0")
        #expect(open.head.contains("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8"))
        #expect(open.head.contains("Vary: Accept") && open.body.hasSuffix("\n# EOF\n"))
      }
    }

    @Test("The rules load, and alert when they should, by promtool's own tests")
    func rules() throws {
      for arguments in [
        ["check", "rules", "\(DebianPrometheus.examples)/roost.rules.yml"],
        ["check", "config", "\(DebianPrometheus.examples)/prometheus.yml"],
        ["test", "rules", "\(DebianPrometheus.examples)/roost.rules.test.yml"],
      ] {
        let told = try DebianPrometheus.check(arguments)
        #expect(told.status == .exited(0) && told.output.contains("SUCCESS"), "\(told.output)")
      }
    }

    /// A text as a part of an address.
    private static func escape(_ text: String) -> String {
      text.utf8.map { byte in
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
          ? String(UnicodeScalar(byte)) : "%" + String(UInt16(byte) + 256, radix: 16).dropFirst()
      }.joined()
    }

    /// The questions of the dashboard, with Grafana's variables filled in.
    private static func questions() throws -> [String] {
      let text = try #require(SharedFolder.text(ofFile: DebianPrometheus.examples + "/roost-dashboard.json"))
      let board = try JSONPayload.decode(JSONValue.self, from: text.utf8)
      guard case .array(let panels)? = board["panels"] else { return [] }
      return panels.flatMap { panel -> [String] in
        guard case .array(let targets)? = panel["targets"] else { return [] }
        return targets.compactMap { target in
          guard case .string(let question)? = target["expr"] else { return nil }
          return question.replacing("$job", with: "roost").replacing("$instance", with: ".*")
            .replacing("$__rate_interval", with: "1m")
        }
      }
    }

    @Test("It takes OpenMetrics, loads the rules, and understands every question of the dashboard")
    func scrape() throws {
      try withLocalRelay { roost, port in
        let own = try PlainClient.freePort()
        let directory = roost.directory.path
        let rules = "\(DebianPrometheus.examples)/roost.rules.yml"
        let configuration = try file(
          "prometheus.yml", in: roost,
          """
          rule_files: ["\(rules)"]
          scrape_configs: [{job_name: roost, scrape_interval: 1s, static_configs: [{targets: ["127.0.0.1:\(port)"]}]}]

          """)
        let process = try SpawnedProcess(
          (DebianPrometheus.folder ?? "") + "/prometheus",
          [
            "--config.file=\(configuration)", "--storage.tsdb.path=\(directory)/prometheus",
            "--web.listen-address=127.0.0.1:\(own)", "--log.level=error",
          ])
        func ask(_ path: String) throws -> JSONValue? {
          // Until it is ready it refuses, in words.
          guard let answer = try? PlainClient.get(path, port: own), answer.hasPrefix("HTTP/1.1 200 "),
            let body = answer.firstRange(of: "\r\n\r\n")
          else { return nil }
          return try JSONPayload.decode(JSONValue.self, from: answer[body.upperBound...].utf8)["data"]
        }
        func value(_ query: String) throws -> String? {
          guard case .array(let results)? = try ask("/api/v1/query?query=\(query)")?["result"],
            case .array(let pair)? = results.first?["value"], case .string(let text)? = pair.last
          else { return nil }
          return text
        }
        try awaitSoon("Prometheus has looked", within: 60) { try value("up") == "1" }
        #expect(try value("roost_store_writable") == "1")
        #expect(try value("sum(roost_worker_up)") == "2")
        #expect(try value("roost_local_eose_duration_seconds_count") == "0")
        let age = try #require(try value("time()-process_start_time_seconds").flatMap(Double.init))
        #expect((0..<600).contains(age))
        #expect(try PlainClient.get("/api/v1/rules", port: own).contains("RoostAway"))
        let questions = try Self.questions()
        #expect(questions.count > 30)
        for question in questions {
          let answer = try PlainClient.get("/api/v1/query?query=\(Self.escape(question))", port: own)
          #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(question): \(answer.suffix(300))")
        }
        process.send(SIGTERM)
        _ = try process.waitForEnd()
      }
    }
  }
}
