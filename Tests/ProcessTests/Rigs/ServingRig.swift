import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

/// A real provider of jobs with store and signer, and its customers.
final class ServingRig {
  let roost: RunningRoost
  let client: BusPeer
  let store: StoreClient
  /// The provider's key.
  let provider: PublicKey

  /// Kind of the job that a test's own program does.
  static let kind: UInt16 = 5_999

  static func layout(_ keys: [String: String] = [:], jobs: [Int: [String: String]] = [:]) -> Layout {
    var layout = Layout.storeAndSigner
    var worker = Layout.Worker(name: "dvm-provider")
    worker.keys = [
      "role": "\"dvm-provider\"", "program": "\"\(SpawnedProcess.builtProgram("dvm-provider"))\"",
      "sandbox": "\"try\"", "customers": "\"anyone\"",
    ]
    worker.keys.merge(keys) { _, new in new }
    worker.jobs = jobs
    layout.workers.append(worker)
    return layout
  }

  /// A job of kind ``kind`` that is done by this script.
  ///
  /// - Parameters:
  ///   - script: for `sh`.
  ///   - keys: further keys of its table.
  static func run(
    script: String, _ keys: [String: String] = [:], worker: [String: String] = [:],
    _ body: (ServingRig) throws -> Void
  ) throws {
    let directory = try TemporaryDirectory()
    let program = directory.path + "/job"
    let file = open(program, O_WRONLY | O_CREAT | O_CLOEXEC, 0o700)
    try Descriptors.writeAll("#!/bin/sh\n\(script)\n", to: file)
    Descriptors.close(file)
    var job = ["program": "[\"\(program)\"]"]
    job.merge(keys) { _, new in new }
    try run(layout(worker, jobs: [Int(kind): job]), body)
  }

  static func run(_ layout: Layout = layout(), _ body: (ServingRig) throws -> Void) throws {
    try withRoost(layout) { roost in try body(try ServingRig(roost)) }
  }

  init(_ roost: RunningRoost) throws {
    self.roost = roost
    let client = try roost.client()
    self.client = client
    store = try StoreClient(roost)
    var provider: PublicKey?
    try awaitSoon("the provider says who answers") {
      provider = try Self.status(client).provider.flatMap { PublicKey($0) }
      return provider != nil
    }
    self.provider = try #require(provider)
  }

  static func status(_ client: BusPeer) throws -> ServingStatus {
    try JSONPayload.decode(ServingStatus.self, from: try client.call("dvm.status").terminal.payload)
  }

  func jobs() throws -> [ServedJob] {
    try client.call("dvm.jobs").parts.map { try JSONPayload.decode(ServedJob.self, from: $0.payload) }
  }

  func job(_ request: Event) throws -> ServedJob? { try jobs().first { $0.request == "\(request.id)" } }

  // MARK: Customers

  /// A request for a job, stored as any client's event is.
  @discardableResult
  func ask(
    _ kind: UInt16 = ServingRig.kind, by customer: SecretKey = .generate(), tags: [[String]] = [], content: String = ""
  ) throws -> Event {
    let request = UnsignedEvent(
      pubkey: customer.publicKey, createdAt: WallClock.seconds, kind: kind, tags: tags, content: content
    ).signed(by: customer)
    let answer = try store.publish(request)
    #expect(answer.isResponse, "\(answer.text)")
    return request
  }

  /// What the provider has said about a request, each event once, verified.
  private func said(_ request: Event, kind: UInt16) throws -> [Event] {
    let texts = try store.query(#"{"kinds":[\#(kind)],"# + "\"#e\":[\"\(request.id)\"]}")
    return try texts.map { text in
      let event = try Event(json: Array(text.utf8))
      try event.verify()
      #expect(event.pubkey == provider)
      return event
    }
  }

  func results(_ request: Event) throws -> [JobResult] {
    try said(request, kind: request.kind + 1_000).map { try JobResult($0) }
  }

  func feedback(_ request: Event) throws -> [JobFeedback] { try said(request, kind: 7_000).map { try JobFeedback($0) } }

  /// Waits for the one result of a request.
  @discardableResult
  func awaitResult(_ request: Event, within seconds: Double = 30) throws -> JobResult {
    var all: [JobResult] = []
    do {
      try awaitSoon("\(request.id) has a result", within: seconds) {
        all = try results(request)
        return !all.isEmpty
      }
    } catch {
      let told = try feedback(request).map { "\($0.answer.statusText) \($0.answer.remark ?? "")" }
      throw DeadlinePassed(description: "\(error); it was told \(told); it is \(try job(request) as Any)")
    }
    #expect(all.count == 1)
    let result = try #require(all.first)
    #expect(result.answer.contradictions(to: try JobRequest(request)).isEmpty)
    return result
  }

  /// Waits for the reason why there is none.
  func awaitError(_ request: Event, within seconds: Double = 30) throws -> String {
    var reason: String?
    try awaitSoon("\(request.id) has failed", within: seconds) {
      reason = try feedback(request).first { $0.status == .error }?.answer.remark
      return reason != nil
    }
    #expect(try results(request).isEmpty)
    return try #require(reason)
  }

  /// Ends a worker as a crash would.
  func kill(_ name: String) throws {
    guard let pid = try roost.worker(name, client).pid else { return }
    Glibc.kill(pid_t(pid), SIGKILL)
  }
}
