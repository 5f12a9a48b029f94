import Addresses
import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("A zap") struct ZapTests {
  let bench = Bench()
  let maker = Maker()
  let wallet = TestWallet()

  /// A job whose provider wants an amount, and shows no invoice.
  private func billed(
    _ amount: Int64 = 5_000, payment: JobSubmit.Payment? = nil, bid: Int64? = nil
  ) throws -> JobID {
    let job = try bench.text([maker], payment: payment, bid: bid)
    bench.receive(
      try maker.feedback(
        .paymentRequired, to: bench.request(job), at: bench.seconds, amount: JobAmount(millisatoshis: amount)))
    return job
  }

  private func approve(_ job: JobID, preimage: Octets32? = nil, _ word: ZapWord? = nil) throws {
    bench.perform(try bench.book.approve(job, provider: nil, preimage: preimage, zap: word, at: bench.now))
  }

  private func zapped(_ amount: Int64 = 5_000) throws -> (JobID, ZapRequestFact) {
    let job = try billed(amount)
    try approve(job)
    return (job, try #require(bench.picture(job).zaps.first))
  }

  private func refusal(_ job: JobID, preimage: Octets32? = nil, _ word: ZapWord? = nil) -> String? {
    let refusal = #expect(throws: Refusal.self) { try approve(job, preimage: preimage, word) }
    return refusal?.message
  }

  private func payment(_ job: JobID) throws -> JobProviderState.PaymentState? { try bench.pair(job, maker).payment }

  @Test("is what a provider is paid by that names an amount and shows no invoice: its request is signed once")
  func requested() throws {
    let (job, zap) = try zapped()
    let request = try #require(zap.request)
    try request.event.verify()
    #expect(request.recipient == maker.publicKey && request.sender == bench.customer.publicKey)
    #expect(request.amountMillisatoshis == 5_000 && request.targetKind == EventKind.jobFeedback)
    #expect(try request.target == bench.pair(job, maker).billedBy && request.relays.map(\.text) == bench.zapRelays)
    try approve(job)
    bench.die()
    try approve(job)
    #expect(bench.picture(job).zaps == [zap] && bench.payments.count == 1)
    let told = try #require(bench.book.told(job, at: bench.now)?.providers.first)
    #expect(told.zap?.request == String(decoding: zap.json, as: UTF8.self) && told.invoiceProblem == nil)
    let interest = try #require(bench.book.interests.first { $0.kinds == [EventKind.zapReceipt] })
    #expect(interest.events == [zap.target] && interest.relays == bench.zapRelays && interest.authors.isEmpty)
  }

  @Test("is paid when a receipt shows the preimage, once, and its result settles the job")
  func preimage() throws {
    let (job, zap) = try zapped()
    let receipt = try wallet.receipt(zap, at: bench.seconds, preimage: wallet.preimage)
    bench.receive(receipt)
    #expect(try payment(job) == .paid)
    let facts = bench.facts[job]
    bench.receive(receipt)
    bench.die()
    bench.receive(receipt)
    #expect(bench.facts[job] == facts)
    bench.receive(try maker.result("noon", to: bench.request(job), at: bench.seconds + 5))
    #expect(bench.state(job) == .settled && bench.picture(job).reason == nil)
    #expect(bench.picture(job).diagnostics.isEmpty)
  }

  @Test("is paid when a receipt is by the wallet that somebody has named, whichever of the two comes first")
  func wallets() throws {
    for isNamedFirst in [true, false] {
      let wallet = TestWallet()
      let (job, zap) = try zapped()
      func name(_ key: PublicKey) throws { try approve(job, ZapWord(wallet: key)) }
      if isNamedFirst { try name(wallet.publicKey) }
      bench.receive(try wallet.receipt(zap, at: bench.seconds))
      if !isNamedFirst {
        #expect(try payment(job) == .approved)
        #expect(bench.picture(job).diagnostics == [JobPicture.unknownWalletWord: 1])
        let (other, count) = (TestWallet().publicKey, try #require(bench.facts[job]).count)
        for _ in 0..<2 { try name(other) }
        #expect(bench.facts[job]?.count == count + 1)
        #expect(bench.picture(job).diagnostics == [JobPicture.otherWalletWord: 1])
        bench.die()
        try name(wallet.publicKey)
      }
      #expect(try payment(job) == .paid && bench.picture(job).diagnostics.isEmpty)
      #expect(try bench.pair(job, maker).receipts.map(\.proof) == [.wallet])
    }
  }

  @Test("is not paid by a receipt that is not what it should be, and each is counted by its name")
  func forged() throws {
    let (job, zap) = try zapped()
    let (other, foreign) = try zapped(7_000)
    let text = String(decoding: foreign.json, as: UTF8.self)
    try approve(job, ZapWord(wallet: wallet.publicKey))
    let time = bench.seconds
    let forged: [(String, Event)] = [
      ("receipt-of-another-amount", try wallet.receipt(zap, at: time, amount: 1_000, preimage: wallet.preimage)),
      ("receipt-of-another-invoice", try wallet.receipt(zap, at: time, invoicedFor: "", preimage: wallet.preimage)),
      ("receipt-of-another-network", try wallet.receipt(zap, at: time, network: .testnet, preimage: wallet.preimage)),
      ("receipt-with-wrong-preimage", try wallet.receipt(zap, at: time, preimage: SHA256.hash([1]))),
      ("receipt-cannot-be-read", try wallet.receipt(zap, at: time, payee: wallet.publicKey)),
      ("receipt-cannot-be-read", try wallet.receipt(zap, at: time, description: "{}")),
      // Of another job of ours, put where this one is looked for.
      ("receipt-cannot-be-read", try wallet.receipt(zap, at: time, preimage: wallet.preimage, description: text)),
      (JobPicture.otherWalletWord, try TestWallet().receipt(zap, at: time)),
    ]
    for (word, event) in forged {
      let before = bench.picture(job)
      bench.receive(event)
      let after = bench.picture(job)
      #expect(after.diagnostics[word] == (before.diagnostics[word] ?? 0) + 1, "\(word): \(after.diagnostics)")
      #expect(after.state == before.state && after.deadline == before.deadline)
      #expect(try payment(job) == .approved && payment(other) == .approved, "\(word)")
    }
    bench.receive(try wallet.receipt(zap, at: time))
    #expect(try payment(job) == .paid && payment(other) == .approved)
  }

  @Test("of a stranger for the same event is that stranger's, and of nothing of ours nobody's")
  func strangers() throws {
    let (job, zap) = try zapped()
    let stranger = SecretKey.generate()
    let request = try ZapRequest.template(
      for: maker.publicKey, by: stranger.publicKey, createdAt: bench.seconds, amountMillisatoshis: 5_000,
      relays: [RelayURL("wss://relay.example")], target: (zap.target, EventKind.jobFeedback)
    ).signed(by: stranger)
    let text = String(decoding: request.json, as: UTF8.self)
    bench.receive(try wallet.receipt(zap, at: bench.seconds, preimage: wallet.preimage, description: text))
    #expect(bench.picture(job).diagnostics == ["receipt-of-another-request": 1])
    let count = bench.facts[job]?.count
    bench.receive(
      try wallet.receipt(
        zap, at: bench.seconds, preimage: wallet.preimage, target: EventID(SHA256.hash([1])), description: text))
    #expect(try bench.facts[job]?.count == count && payment(job) == .approved)
    // A wallet that leaves out what was zapped says it in the request all the same.
    bench.receive(try wallet.receipt(zap, at: bench.seconds, preimage: wallet.preimage, hasTarget: false))
    #expect(try payment(job) == .paid)
  }

  @Test("keeps so many receipts of strangers, and ours beside them")
  func bounds() throws {
    let (job, zap) = try zapped()
    for number in 0..<30 {
      bench.receive(try wallet.receipt(zap, at: bench.seconds + Int64(number), description: "{}"))
    }
    #expect(bench.picture(job).diagnostics["receipt-cannot-be-read"] == bench.book.limits.receiptMaximum)
    #expect(bench.book.told(job, at: bench.now)?.diagnostics["not-kept"] == 14)
    bench.receive(try wallet.receipt(zap, at: bench.seconds, preimage: wallet.preimage))
    #expect(try payment(job) == .paid)
  }

  @Test("is proven by the invoice that was made for its request and the preimage, and by no other")
  func byHand() throws {
    let (job, zap) = try zapped()
    let text = String(decoding: zap.json, as: UTF8.self)
    let good = try wallet.invoice(for: text, 5_000, at: bench.seconds)
    #expect(refusal(job, preimage: wallet.preimage)?.contains("'invoice'") == true)
    let dear = try wallet.invoice(for: text, 9_000, at: bench.seconds)
    #expect(refusal(job, preimage: wallet.preimage, ZapWord(invoice: dear))?.contains("another amount") == true)
    let foreign = try wallet.invoice(for: "{}", 5_000, at: bench.seconds)
    #expect(refusal(job, preimage: wallet.preimage, ZapWord(invoice: foreign))?.contains("not made for") == true)
    #expect(refusal(job, preimage: SHA256.hash([1]), ZapWord(invoice: good))?.contains("preimage") == true)
    #expect(try payment(job) == .approved)
    try approve(job, preimage: wallet.preimage, ZapWord(invoice: good))
    #expect(try payment(job) == .paid)
  }

  @Test("is made in place of an invoice when somebody wants it so, and never beside one that is approved")
  func inPlace() throws {
    let job = try bench.text([maker])
    let bill = try TestInvoice(5_000, at: bench.seconds, expires: 60)
    bench.receive(
      try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
    bench.pass(seconds: 120)
    #expect(refusal(job)?.contains("expired") == true)
    try approve(job, ZapWord())
    #expect(bench.picture(job).zaps.map(\.amount) == [5_000])
    let other = try bench.text([maker])
    let second = try TestInvoice(6_000, at: bench.seconds)
    bench.receive(
      try maker.feedback(.paymentRequired, to: bench.request(other), at: bench.seconds, amount: second.amount))
    try approve(other)
    #expect(refusal(other, ZapWord())?.contains("approved already") == true && bench.picture(other).zaps.isEmpty)
  }

  @Test("keeps to the bid and the bounds, and by rule is approved within them")
  func bounded() throws {
    let dear = try billed(5_000, bid: 4_000)
    #expect(refusal(dear)?.contains("above the bid") == true)
    let job = try billed(5_000, payment: JobSubmit.Payment(mode: .auto, jobMaximum: 5_000))
    #expect(try payment(job) == .approved && bench.picture(job).zaps.count == 1)
    #expect(bench.book.approvedToday(at: bench.now) == 5_000)
    bench.die()
    #expect(bench.book.approvedToday(at: bench.now) == 5_000)
    let nothing = try billed(0)
    #expect(refusal(nothing)?.isEmpty == false)
  }

  @Test("that cannot be made ends the matter with its reason; one that nobody proves is not waited for for ever")
  func unmade() throws {
    bench.zapRelays = []
    let job = try billed()
    try approve(job)
    #expect(bench.state(job) == .failed && bench.picture(job).reason == "its zap cannot be made: no relay is known")
    bench.zapRelays = ["wss://relay.example"]
    let (late, zap) = try zapped()
    bench.pass(seconds: 601)
    #expect(bench.state(late) == .expired)
    bench.receive(try wallet.receipt(zap, at: bench.seconds, preimage: wallet.preimage))
    #expect(bench.state(late) == .expired)
  }

  @Test("that nobody can pay counts against no bound: it cannot be made, was denied unsigned, or its job has ended so")
  func void() throws {
    bench.zapRelays = []
    let unmade = try billed()
    try approve(unmade)
    #expect(bench.state(unmade) == .failed && bench.payments.isEmpty)
    bench.zapRelays = ["wss://relay.example"]
    let (signed, _) = try zapped()
    bench.perform(try bench.book.deny(signed, provider: nil, at: bench.now))
    #expect(bench.book.approvedToday(at: bench.now) == 5_000, "whoever has its request may pay it")
    // The signer is away.
    for isEnded in [false, true] {
      bench.signsZaps = false
      let job = try billed()
      try approve(job)
      #expect(bench.book.approvedToday(at: bench.now) == 10_000)
      let target = try #require(try bench.pair(job, maker).billedBy)
      if isEnded {
        bench.perform(bench.book.cancelled(job, at: bench.now))
      } else {
        bench.perform(try bench.book.deny(job, provider: nil, at: bench.now))
      }
      #expect(bench.book.approvedToday(at: bench.now) == 5_000 && bench.payments.count == 1)
      bench.signsZaps = true
      bench.carryOut(.zap(job, target))
      #expect(bench.picture(job).zaps.isEmpty, "its request does not come behind that")
    }
    bench.die()
    #expect(bench.book.approvedToday(at: bench.now) == 5_000)
  }

  @Test("is known before it is approved, so that whoever approves can be told that it cannot be made")
  func foreseen() throws {
    let job = try billed()
    let terms = try #require(bench.book.zapTerms(approving: job, provider: nil, nil, at: bench.now))
    #expect(try terms.provider == maker.publicKey && terms.target == bench.pair(job, maker).billedBy)
    #expect(try terms.amount == 5_000 && payment(job) == .asked)
    #expect(bench.book.zapTerms(approving: job, provider: Maker().publicKey, nil, at: bench.now) == nil)
    try approve(job)
    #expect(bench.book.zapTerms(approving: job, provider: nil, nil, at: bench.now) == nil, "it is made already")
    let billed = try bench.text([maker])
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(
      try maker.feedback(.paymentRequired, to: bench.request(billed), at: bench.seconds, amount: bill.amount))
    #expect(bench.book.zapTerms(approving: billed, provider: nil, nil, at: bench.now) == nil, "it has an invoice")
    #expect(bench.book.zapTerms(approving: billed, provider: nil, ZapWord(), at: bench.now)?.amount == 5_000)
  }

  @Test("of a result that is there settles the job")
  func delivered() throws {
    let job = try bench.text([maker])
    bench.receive(
      try maker.result("noon", to: bench.request(job), at: bench.seconds, amount: JobAmount(millisatoshis: 5_000)))
    #expect(bench.state(job) == .delivered)
    try approve(job)
    let zap = try #require(bench.picture(job).zaps.first)
    #expect(zap.request?.targetKind == 6_050)
    bench.receive(try wallet.receipt(zap, at: bench.seconds, preimage: wallet.preimage))
    #expect(try bench.state(job) == .settled && payment(job) == .paid && bench.picture(job).reason == nil)
  }
}
