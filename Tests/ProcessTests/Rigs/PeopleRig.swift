import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

/// `Tests/Peers/counting_relay.py`, running until this is gone: a relay with limits, which writes down each REQ.
final class CountingRelay {
  let url: String
  private let log: String
  private let process: SpawnedProcess
  private let input: DescriptorPair

  /// A REQ as it came.
  struct Request: Decodable {
    struct Wanted: Decodable {
      var authors: [String]?
      var kinds: [Int]?
      var until: Int64?
    }
    var filters: [Wanted]
    var open: Int
    var broken: String?
  }

  init(_ events: [Event], in directory: TemporaryDirectory, _ name: String = "relay") throws {
    let path = directory.path + "/\(name).jsonl"
    log = directory.path + "/\(name).log"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try Descriptors.writeAll(events.map { String(decoding: $0.json, as: UTF8.self) + "\n" }.joined(), to: descriptor)
    Descriptors.close(descriptor)
    input = try Descriptors.pipe()
    process = try SpawnedProcess(
      "/usr/bin/python3", [SharedFolder.repository + "/Tests/Peers/counting_relay.py", path, log],
      descriptors: [0: input.first])
    url = try process.readLine(within: 60) { $0.hasPrefix("ws://") }
  }

  deinit {
    Descriptors.close(input.first)
    Descriptors.close(input.second)
  }

  /// From now on no REQ is answered, or each is.
  func holds(_ holds: Bool) {
    guard holds else {
      unlink(log + ".hold")
      return
    }
    Descriptors.close(open(log + ".hold", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
  }

  /// The REQs so far.
  func requests() throws -> [Request] {
    let bytes = SharedFolder.bytes(ofFile: log) ?? []
    return try bytes.split(separator: 0x0A).map { try JSONPayload.decode(Request.self, from: Array($0)) }
  }

  /// How often each person was asked for in a first page of profiles: later pages continue one.
  func askedCounts() throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for wanted in try requests().flatMap(\.filters) where wanted.kinds == [0] && wanted.until == nil {
      for author in wanted.authors ?? [] { counts[author, default: 0] += 1 }
    }
    return counts
  }
}

/// Debian's nginx as a server of names (NIP-05), over TLS with a certificate of the tests' authority.
final class NginxNames {
  /// `https://localhost:34567/names`
  let url: String
  private let process: SpawnedProcess

  /// The system's, or what Scripts/nginx.sh has unpacked.
  static let program: String? = ["/usr/sbin/nginx", SharedFolder.repository + "/.nginx/usr/sbin/nginx"]
    .first { access($0, X_OK) == 0 }
  static var isAvailable: Bool { program != nil }

  /// - Parameters:
  ///   - directory: where its files are.
  ///   - names: the text of `nostr.json`.
  init(in directory: TemporaryDirectory, names: String) throws {
    let port = try PlainClient.freePort()
    let root = directory.path + "/nginx"
    mkdir(root, 0o755)
    func write(_ name: String, _ text: String) throws {
      let descriptor = open("\(root)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      try Descriptors.writeAll(text, to: descriptor)
      Descriptors.close(descriptor)
    }
    try write("names.json", names)
    try write("huge.json", #"{"names":{"# + String(repeating: " ", count: 10_000_000) + "}}")
    try write("page.html", "<!doctype html><title>Not found</title>")
    let certificate = try TestCertificates.path("good")
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(root)/\($0);" }
    try write(
      "nginx.conf",
      """
      daemon off; master_process off; pid \(root)/pid; error_log \(root)/error.log; events {}
      http {
        access_log \(root)/access.log; \(temporary.joined(separator: " "))
        server {
          listen 127.0.0.1:\(port) ssl; server_name localhost;
          ssl_certificate \(certificate); ssl_certificate_key \(certificate);
          default_type application/json;
          location = /names/people.example { alias \(root)/names.json; }
          location = /names/redirect.example { return 301 https://elsewhere.example/; }
          location = /names/huge.example { alias \(root)/huge.json; }
          location = /names/slow.example { limit_rate 1; alias \(root)/names.json; }
          location = /names/page.example { default_type text/html; alias \(root)/page.html; }
          location / { return 404; }
        }
      }
      """)
    let program = try #require(Self.program)
    process = try SpawnedProcess(program, ["-p", root, "-c", "\(root)/nginx.conf", "-e", "\(root)/error.log"])
    url = "https://localhost:\(port)/names"
    try awaitSoon("nginx listens") {
      SharedFolder.bytes(ofFile: "\(root)/pid") != nil && (try? PlainClient(port: port)) != nil
    }
  }

  deinit { process.send(SIGKILL) }
}

/// A real worker `people` with planner, store, signer and one connector.
enum PeopleRig {
  /// - Parameters:
  ///   - relays: the connector's relays.
  ///   - connector: further keys of the connector.
  ///   - people: further keys of the worker.
  static func layout(
    _ relays: [String], connector: [String: String] = [:], people: [String: String] = [:]
  ) -> Layout {
    var layout = PlannerRig.layout(relays)
    for index in layout.workers.indices where layout.workers[index].keys["role"] == "\"relay-connector\"" {
      layout.workers[index].keys.merge(connector) { _, new in new }
    }
    layout.workers.append(
      Layout.Worker(
        name: "people",
        keys: [
          "role": "\"people\"", "program": "\"\(SpawnedProcess.builtProgram("people"))\"", "sandbox": "\"try\"",
        ].merging(people) { _, new in new }))
    return layout
  }
}
