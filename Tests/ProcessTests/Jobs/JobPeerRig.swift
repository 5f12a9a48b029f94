import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

/// Store, signer, planner, tracker and local relay, and providers by other people who are clients of that relay.
struct JobPeerRig {
  var jobs: JobRig
  /// Where the local relay is.
  let url: String

  var roost: RunningRoost { jobs.roost }

  /// - Parameter keys: further settings of the tracker.
  static func run(_ keys: [String: String] = [:], _ body: (inout JobPeerRig) throws -> Void) throws {
    let port = try RelayVisitor.freePort()
    let directory = try TemporaryDirectory()
    let relay = try AnsweringRelay(directory, "relay")
    try withRoost(.localRelay(port: port, beside: JobRig.layout(keys))) { roost in
      let jobs = JobRig(roost: roost, client: try roost.client(), relay: relay)
      var rig = JobPeerRig(jobs: jobs, url: "ws://127.0.0.1:\(port)")
      try body(&rig)
    }
  }

  /// A provider over nostr-sdk that listens.
  func provider(_ behaviour: String, bill: PayableInvoice? = nil) throws -> JobPeer {
    var arguments = [url, behaviour]
    if let bill { arguments += ["--invoice", bill.invoice.text, "--hash", bill.paymentHash] }
    return try JobPeer(PythonPeer.interpreter, "sdk_provider.py", arguments)
  }

  // MARK: As people do

  /// Runs `roost job`, which must succeed; what it prints.
  @discardableResult
  func command(_ arguments: String...) throws -> String { try command(arguments) }

  private func command(_ arguments: [String]) throws -> String {
    let told = try roost.command(["job"] + arguments)
    #expect(told.status == .exited(0), "\(arguments): \(told.output)")
    return told.output
  }

  /// `roost job submit` for these providers.
  func submit(to peers: JobPeer..., kind: Int = 5_050, with flags: [String] = ["--local"]) throws -> Job {
    try submit(to: peers.map(\.key), kind: kind, with: flags)
  }

  func submit(to keys: [String], kind: Int = 5_050, with flags: [String] = ["--local"]) throws -> Job {
    var arguments = ["submit", "--json", "--kind", "\(kind)"] + flags
    arguments += ["--input", "text=what is the time?", "--param", "lang=en"]
    for key in keys { arguments += ["--provider", key] }
    return try JSONPayload.decode(Job.self, from: try command(arguments).utf8)
  }

  /// The same as a program would ask it.
  func wanted(of peers: JobPeer...) -> JobSubmit {
    var wanted = JobSubmit(kind: 5_050)
    (wanted.providers, wanted.reach) = (peers.map(\.key), .local)
    return wanted
  }

  /// Pays as a wallet does: the job is approved, and the preimage shown to its provider, and then to the tracker.
  func pay(_ job: Job, _ bill: PayableInvoice, to peer: JobPeer) throws {
    #expect(try command("approve", job.id).contains(bill.invoice.text))
    try peer.goOn("\(bill.preimage)")
    try command("approve", job.id, "--preimage", "\(bill.preimage)")
  }
}

extension PayableInvoice {
  var paymentHash: String { SHA256.hash(preimage.bytes).description }
}

/// A provider by other people, under `Tests/Peers/`, running until this is gone.
///
/// Its first line of interest is `provider KEY`. Where it says `waiting` it goes on behind a line of its input.
final class JobPeer {
  /// Who it is, 64 hexadecimal digits.
  let key: String
  private let process: SpawnedProcess
  private let input: DescriptorPair

  init(_ interpreter: String, _ script: String, _ arguments: [String]) throws {
    input = try Descriptors.pipe()
    process = try SpawnedProcess(
      interpreter, [SharedFolder.repository + "/Tests/Peers/" + script] + arguments,
      environment: ["PYTHONUNBUFFERED=1", "RUST_LOG=error", "PATH=/usr/bin:/bin"], descriptors: [0: input.first])
    let line = try process.readLine(within: 60) { $0.hasPrefix("provider ") }
    key = String(line.dropFirst("provider ".count))
  }

  deinit {
    process.send(SIGKILL)
    Descriptors.close(input.first)
    Descriptors.close(input.second)
  }

  /// Waits for a line that begins so; the rest of it.
  @discardableResult
  func said(_ start: String) throws -> String {
    String(try process.readLine { $0.hasPrefix(start) }.dropFirst(start.count).drop { $0 == " " })
  }

  /// Waits until it waits, and lets it go on.
  func goOn(_ text: String = "") throws {
    try said("waiting")
    try Descriptors.writeAll(text + "\n", to: input.second)
  }

  /// Ends it at once, as if its machine had failed.
  func kill() { process.send(SIGKILL) }

  func waitForEnd() throws -> SpawnedProcess.Ending { try process.waitForEnd() }
}
