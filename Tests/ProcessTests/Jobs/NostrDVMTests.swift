import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

/// nostr-dvm, a framework for providers by other people, as a client of the local relay.
private struct NostrDVM {
  /// Where `Scripts/python-environment.sh` puts the interpreter of its environment.
  static let interpreter = SharedFolder.repository + "/.venv-nostr-dvm/bin/python"
  static var isAvailable: Bool { PythonPeer.isAvailable && access(interpreter, X_OK) == 0 }

  let rig: JobPeerRig

  static func run(_ keys: [String: String] = [:], _ body: (NostrDVM) throws -> Void) throws {
    try JobPeerRig.run(keys) { rig in try body(NostrDVM(rig: rig)) }
  }

  /// A task that behaves so, and has this key.
  func task(_ behaviour: String, key: SecretKey? = nil, bill: PayableInvoice? = nil) throws -> JobPeer {
    var arguments = [rig.url, rig.roost.path("dvm-\(behaviour)"), behaviour]
    if let key { arguments += ["--key", key.withSecret { Hexadecimal.text(of: $0) }] }
    if let bill { arguments += ["--invoice", bill.invoice.text, "--hash", bill.paymentHash] }
    return try JobPeer(Self.interpreter, "nostr_dvm_peer.py", arguments)
  }
}

extension ProcessTests {
  /// Jobs that are done by nostr-dvm, whose ways are its own: it has its own encoding of encrypted feedback, answers
  /// NIP-04 by NIP-44, and says `success` in results.
  @Suite(
    "Jobs done by nostr-dvm",
    .enabled(if: NostrDVM.isAvailable, "no .venv or no .venv-nostr-dvm: run Scripts/python-environment.sh"))
  struct NostrDVMTests {
    @Test("It announces itself, is found, and does a job", arguments: [["--local"], []])
    func plain(flags: [String]) throws {
      try NostrDVM.run { dvm in
        let peer = try dvm.task("plain")
        #expect(try dvm.rig.command("providers", "--kind", "5050").contains("Clock"))
        let job = try dvm.rig.submit(to: peer, with: flags)
        let told = try dvm.rig.jobs.await(job, "is settled") { $0.state == .settled }
        #expect(told.result?.content == "noon" && told.result?.provider == peer.key && told.reason == nil, "\(told)")
        #expect(told.diagnostics == ["status-on-result": 1], "\(told)")
      }
    }

    @Test(
      "It is asked in either encryption, or in the one that fits it, and its encrypted words are read",
      arguments: ["nip04", "nip44", "auto"])
    func encrypted(form: String) throws {
      try NostrDVM.run { dvm in
        let peer = try dvm.task("held")
        let job = try dvm.rig.submit(to: peer, with: ["--local", "--encrypt", form])
        try dvm.rig.jobs.await(job, "has said that it works, in its own encoding") {
          $0.providers.first?.partial?.contains("started processing") == true
        }
        try peer.goOn()
        let told = try dvm.rig.jobs.await(job, "is settled") { $0.state == .settled }
        #expect(told.result?.content == "noon" && told.reason == nil, "\(told)")
      }
    }

    @Test(
      "It wants five satoshis; its wallet sees them when that was approved, and it delivers",
      arguments: [[], ["--encrypt", "nip44"], ["--bid", "5sat"]])
    func paid(flags: [String]) throws {
      try NostrDVM.run { dvm in
        let bill = try PayableInvoice(5_000)
        let peer = try dvm.task("paid", bill: bill)
        let job = try dvm.rig.submit(to: peer, with: ["--local"] + flags)
        let asked = try dvm.rig.jobs.await(job, "is to be paid") { $0.state == .paymentRequired }
        #expect(asked.providers.first?.invoice == bill.invoice.text && asked.providers.first?.amount == 5_000)
        try dvm.rig.pay(job, bill, to: peer)
        let told = try dvm.rig.jobs.await(job, "is settled") { $0.state == .settled }
        #expect(told.result?.content == "noon" && told.providers.first?.payment == .paid, "\(told)")
      }
    }

    @Test("A job that names nobody is done by whoever likes, and not by who is dearer than the bid")
    func open() throws {
      try NostrDVM.run { dvm in
        let dear = try dvm.task("paid", bill: try PayableInvoice(5_000))
        let poor = try dvm.rig.submit(to: [], with: ["--local", "--bid", "4sat", "--answer-within", "3s"])
        let told = try dvm.rig.jobs.await(poor, "is expired") { $0.state == .expired }
        #expect(told.providers.isEmpty && told.reason == "no provider has answered within 3 seconds", "\(told)")
        dear.kill()
        let peer = try dvm.task("plain")
        let job = try dvm.rig.submit(to: [])
        let done = try dvm.rig.jobs.await(job, "is settled") { $0.state == .settled }
        #expect(done.result?.provider == peer.key && done.result?.content == "noon", "\(done)")
      }
    }

    @Test("What a task tells while it works is shown, and an error ends the job with the reason")
    func feedback() throws {
      try NostrDVM.run { dvm in
        let peer = try dvm.task("told")
        let job = try dvm.rig.submit(to: peer)
        try dvm.rig.jobs.await(job, "has a part") { $0.providers.first?.state == .partial }
        try peer.goOn()
        try dvm.rig.jobs.await(job, "is settled") { $0.state == .settled && $0.result?.content == "noon" }
        let failing = try dvm.task("fails")
        let other = try dvm.rig.submit(to: failing)
        let told = try dvm.rig.jobs.await(other, "has failed") { $0.state == .failed }
        #expect(told.reason?.contains("had an error") == true && told.providers.first?.state == .error, "\(told)")
      }
    }

    @Test("It says processing and dies: the job ends in time, with a reason")
    func dies() throws {
      try NostrDVM.run(["result-deadline": "\"2s\""]) { dvm in
        let dying = try dvm.task("held")
        let job = try dvm.rig.submit(to: dying)
        try dying.said("waiting")
        dying.kill()
        let told = try dvm.rig.jobs.await(job, "is expired") { $0.state == .expired }
        #expect(told.reason == "its provider has sent no result within 2 seconds" && told.result == nil)
      }
    }

    @Test("Beside a liar and an impostor it is the one that is believed")
    func race() throws {
      try NostrDVM.run { dvm in
        let peer = try dvm.task("held")
        let liar = try dvm.rig.provider("request")
        let impostor = try dvm.rig.provider("impostor", bill: try PayableInvoice(5_000))
        // Of several `p` it looks at the last one.
        let job = try dvm.rig.submit(to: liar, peer)
        try impostor.said("refused")
        try dvm.rig.jobs.await(job, "has found both out") {
          $0.diagnostics["not-asked"] == 2 && $0.diagnostics["of-another-request"] == 1
        }
        try peer.goOn()
        let told = try dvm.rig.jobs.await(job, "is settled") { $0.state == .settled }
        #expect(told.result?.provider == peer.key && told.result?.content == "noon", "\(told)")
      }
    }

    @Test("Two of it with one key answer twice: the first result stays, and the other comes too late")
    func double() throws {
      try NostrDVM.run { dvm in
        let key = SecretKey.generate()
        let held = try dvm.task("other", key: key)
        let again = try dvm.task("plain", key: key)
        #expect(again.key == held.key)
        let job = try dvm.rig.submit(to: held)
        let settled = try dvm.rig.jobs.await(job, "is settled") { $0.state == .settled && $0.endedAt != nil }
        try held.goOn()
        let told = try dvm.rig.jobs.await(job, "has both") { $0.diagnostics["after-the-end"] != nil }
        #expect(told.result == settled.result && told.result?.content == "noon", "\(told)")
      }
    }

    @Test("It does not know that a job may be called off: what it brings afterwards changes nothing")
    func cancelled() throws {
      try NostrDVM.run { dvm in
        let peer = try dvm.task("held")
        let job = try dvm.rig.submit(to: peer)
        try dvm.rig.jobs.await(job, "is processing") { $0.state == .processing }
        try dvm.rig.command("cancel", job.id)
        try peer.goOn()
        let told = try dvm.rig.jobs.await(job, "has filed it as late") { $0.diagnostics["after-the-end"] == 1 }
        #expect(told.state == .cancelled && told.result == nil, "\(told)")
      }
    }
  }
}
