import Addresses
import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  @Suite("Jobs that are paid by zaps") struct JobZapTests {
    let maker = JobMaker()
    let wallet = ZapWallet()

    /// A job whose provider wants an amount, and shows no invoice.
    private func billed(_ rig: JobRig) throws -> (job: Job, request: JobRequest) {
      let job = try rig.submit(maker.job(relay: rig.relay))
      let request = try rig.request(job)
      try rig.say(maker.feedback(.paymentRequired, to: request, amount: JobAmount(millisatoshis: 5_000)))
      let asked = try rig.await(job, "is to be paid") { $0.state == .paymentRequired }
      let provider = try #require(asked.providers.first)
      #expect(provider.amount == 5_000 && provider.invoice == nil && provider.invoiceProblem == nil)
      return (job, request)
    }

    private func approve(_ rig: JobRig, _ job: Job, wallet: PublicKey? = nil) throws -> JobProviderState {
      var reference = JobReference(job: job.id)
      reference.wallet = wallet?.npub
      let told = try rig.ask("job.approve", reference, as: Job.self)
      return try #require(told.providers.first)
    }

    private func zapRequest(_ provider: JobProviderState) throws -> Event {
      let event = try Event(json: Array(try #require(provider.zap?.request).utf8))
      try event.verify()
      return event
    }

    @Test("The request for a zap is signed, forged receipts move nothing, and the right one pays and settles the job")
    func zapped() throws {
      try JobRig.run { rig in
        // Where the provider is paid stands in its profile.
        let profile = UnsignedEvent(
          pubkey: maker.key.publicKey, createdAt: WallClock.seconds, kind: EventKind.metadata,
          content: #"{"name":"maker","lud16":"maker@example.com"}"#
        ).signed(by: maker.key)
        try rig.say(profile)
        let (job, request) = try billed(rig)
        let approved = try approve(rig, job)
        #expect(approved.payment == .approved && approved.zap?.address == "maker@example.com")
        let event = try zapRequest(approved)
        let zap = try ZapRequest(event)
        #expect(zap.recipient == maker.key.publicKey && zap.sender.description == job.account)
        #expect(zap.amountMillisatoshis == 5_000 && zap.relays.map(\.text) == [rig.relay.url])
        #expect(zap.target?.description == approved.zap?.target && zap.targetKind == EventKind.jobFeedback)
        let shown = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"), ["job", "show", job.id, "--zap"],
          environment: ["ROOST_SOCKET=\(rig.roost.socket)"])
        #expect(try shown.readAllOutput() == String(decoding: event.json, as: UTF8.self) + "\n")
        #expect(try shown.waitForEnd() == .exited(0))
        // It is nobody's but the wallet's.
        #expect(try rig.client.call("store.query", #"{"filters":[{"kinds":[9734]}]}"#).parts.isEmpty)
        try rig.say(wallet.receipt(event, zap, amount: 1_000, preimage: wallet.preimage))
        try rig.say(wallet.receipt(event, zap, preimage: SHA256.hash([1])))
        try rig.say(wallet.receipt(event, zap))
        let unmoved = try rig.await(job, "has counted three") { $0.diagnostics.count == 3 }
        #expect(
          unmoved.diagnostics == [
            "receipt-of-another-amount": 1, "receipt-with-wrong-preimage": 1, "receipt-of-unknown-wallet": 1,
          ])
        #expect(unmoved.state == .paymentRequired && unmoved.providers.first?.payment == .approved)
        try rig.kill("dvm-tracker")
        #expect(try zapRequest(try approve(rig, job)) == event, "it is the same one after a death")
        try rig.say(wallet.receipt(event, zap, preimage: wallet.preimage))
        try rig.await(job, "is paid") { $0.providers.first?.payment == .paid }
        try rig.say(maker.result("noon", to: request))
        try rig.await(job, "is settled") { $0.state == .settled && $0.result?.content == "noon" && $0.reason == nil }
      }
    }

    @Test("An approval that falls to a zap, with no relay for its receipt, is refused, and changes nothing")
    func nowhere() throws {
      try JobRig.run { rig in
        let job = try rig.submit(maker.job())
        let request = try rig.request(job)
        try rig.say(maker.feedback(.paymentRequired, to: request, amount: JobAmount(millisatoshis: 5_000)))
        let before = try rig.await(job, "is to be paid") { $0.state == .paymentRequired }
        let roost = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"), ["job", "approve", job.id, "--zap"],
          environment: ["ROOST_SOCKET=\(rig.roost.socket)"])
        let said = try roost.readAllOutput()
        #expect(try roost.waitForEnd() == .exited(1) && said.contains("submit the job with --relay"), "\(said)")
        let answer = try rig.client.call("job.approve", #"{"job":"\#(job.id)"}"#)
        #expect(answer.refusal?.code == .noRelays && answer.refusal?.outcome == .notStarted)
        try rig.kill("dvm-tracker")
        #expect(try rig.show(job).providers == before.providers)
        #expect(try rig.ask("job.status", NoArguments(), as: TrackingStatus.self).approvedToday == 0)
      }
    }

    @Test("A receipt by the wallet that is named is a proof, also one that came before, and one by another is not")
    func named() throws {
      try JobRig.run { rig in
        let (job, _) = try billed(rig)
        let event = try zapRequest(try approve(rig, job))
        try rig.say(ZapWallet().receipt(event, ZapRequest(event)))
        try rig.say(wallet.receipt(event, ZapRequest(event)))
        try rig.await(job, "has both receipts") { $0.providers.first?.zap?.receipts.count == 2 }
        let paid = try approve(rig, job, wallet: wallet.key.publicKey)
        #expect(paid.payment == .paid && paid.zap?.receipts.count { $0.proof == .wallet } == 1)
      }
    }

    /// The steps of a zap behind each of which somebody dies.
    enum Step: CaseIterable {
      case asked, approved, received
    }

    @Test(
      "Whoever dies at whatever step of a zap, there is one request, and its receipt pays",
      arguments: ["dvm-tracker", "event-store", "signer"])
    func everyStep(victim: String) throws {
      try JobRig.run { rig in
        for step in Step.allCases {
          func behind(_ now: Step) throws {
            if step == now { try rig.kill(victim) }
          }
          let (job, request) = try billed(rig)
          try behind(.asked)
          _ = try approve(rig, job)
          try behind(.approved)
          let told = try rig.await(job, "has the request for its zap") { $0.providers.first?.zap?.request != nil }
          let event = try zapRequest(try #require(told.providers.first))
          let wallet = ZapWallet()
          try rig.say(wallet.receipt(event, ZapRequest(event), preimage: wallet.preimage))
          try behind(.received)
          let paid = try rig.await(job, "is paid") { $0.providers.first?.payment == .paid }
          #expect(paid.providers.first?.zap?.receipts.count == 1 && paid.diagnostics.isEmpty, "\(step)")
          try rig.say(maker.result("noon", to: request))
          try rig.await(job, "is settled") { $0.state == .settled && $0.endedAt != nil }
        }
        let status = try rig.ask("job.status", NoArguments(), as: TrackingStatus.self)
        #expect(status.approvedToday == Int64(Step.allCases.count) * 5_000)
      }
    }

    @Test("A provider that is silent is asked once more, by a request of its own, and may answer the first one")
    func again() throws {
      try JobRig.run(["answer-deadline": "\"2s\""]) { rig in
        var wanted = maker.job()
        wanted.retries = JobSubmit.retryMaximum
        let job = try rig.submit(wanted)
        let first = try rig.request(job)
        let second = try rig.request(job, 1)
        #expect(first.event.id != second.event.id && second.terms.providers == [maker.key.publicKey])
        try rig.say(maker.result("noon", to: first))
        try rig.await(job, "is settled") { $0.state == .settled && $0.result?.content == "noon" }
      }
    }
  }
}

/// A wallet that a test plays.
struct ZapWallet {
  let key = SecretKey.generate()
  let preimage = SHA256.hash((0..<16).map { _ in UInt8.random(in: .min ... .max) })

  /// A receipt for a request.
  func receipt(
    _ event: Event, _ zap: ZapRequest, amount: Int64? = nil, preimage shown: Octets32? = nil
  ) throws -> Event {
    let text = String(decoding: event.json, as: UTF8.self)
    var terms = InvoiceTerms(
      amountMillisatoshis: amount ?? zap.amountMillisatoshis, paymentHash: SHA256.hash(preimage.bytes),
      createdAt: WallClock.seconds)
    terms.descriptionHash = SHA256.hash(Array(text.utf8))
    var tags = [
      ["p", zap.recipient.description], ["bolt11", try terms.signed(by: .generate()).text], ["description", text],
    ]
    if let target = zap.target { tags.append(["e", target.description]) }
    if let shown { tags.append(["preimage", shown.description]) }
    return UnsignedEvent(
      pubkey: key.publicKey, createdAt: WallClock.seconds, kind: EventKind.zapReceipt, tags: tags, content: ""
    ).signed(by: key)
  }
}
