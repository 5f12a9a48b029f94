import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("A payment hash") struct ProofTests {
  let bench = Bench()
  let maker = Maker()
  let wallet = TestWallet()

  private func billed(_ amount: JobAmount = JobAmount(millisatoshis: 5_000), by maker: Maker? = nil) throws -> JobID {
    let maker = maker ?? self.maker
    let job = try bench.text([maker])
    bench.receive(try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: amount))
    return job
  }

  private func approve(_ job: JobID, preimage: Octets32? = nil, _ word: ZapWord? = nil) throws {
    bench.perform(try bench.book.approve(job, provider: nil, preimage: preimage, zap: word, at: bench.now))
  }

  private func zapped(by maker: Maker? = nil) throws -> (JobID, ZapRequestFact) {
    let job = try billed(by: maker)
    try approve(job)
    return (job, try #require(bench.picture(job).zaps.first))
  }

  private func refusal(_ job: JobID, preimage: Octets32? = nil, _ word: ZapWord? = nil) -> String {
    let refusal = #expect(throws: Refusal.self) { try approve(job, preimage: preimage, word) }
    return refusal?.message ?? ""
  }

  private func payment(_ job: JobID, _ maker: Maker? = nil) throws -> JobProviderState.PaymentState? {
    try bench.pair(job, maker ?? self.maker).payment
  }

  private let word = ZapReceiptFact.Objection.otherPayment.word

  @Test("proves one zap, also when the job of that is forgotten", arguments: [true, false])
  func zaps(isForgotten: Bool) throws {
    let (first, firstZap) = try zapped()
    let (second, secondZap) = try zapped(by: isForgotten ? maker : nil)
    bench.receive(try wallet.receipt(firstZap, at: bench.seconds, preimage: wallet.preimage))
    #expect(try payment(first) == .paid)
    if isForgotten {
      bench.receive(try maker.result("noon", to: bench.request(first), at: bench.seconds))
      bench.forget(first)
      bench.die()
    }
    bench.receive(try wallet.receipt(secondZap, at: bench.seconds, preimage: wallet.preimage))
    #expect(try payment(second) == .approved && bench.picture(second).diagnostics == [word: 1])
    let text = String(decoding: secondZap.json, as: UTF8.self)
    let invoice = try wallet.invoice(for: text, 5_000, at: bench.seconds)
    #expect(refusal(second, preimage: wallet.preimage, ZapWord(invoice: invoice)).contains("another job"))
    let other = TestWallet()
    bench.receive(try other.receipt(secondZap, at: bench.seconds, preimage: other.preimage))
    #expect(try payment(second) == .paid)
  }

  @Test("proves one zap of two whose receipts come at once, and are not written down yet")
  func atOnce() throws {
    let (first, firstZap) = try zapped()
    let (second, secondZap) = try zapped(by: Maker())
    bench.receive(
      try wallet.receipt(firstZap, at: bench.seconds, preimage: wallet.preimage),
      try wallet.receipt(secondZap, at: bench.seconds, preimage: wallet.preimage))
    #expect(try payment(first) == .paid && bench.picture(second).diagnostics == [word: 1])
    #expect(bench.proofs.map(\.0) == [first])
  }

  @Test("proves a zap or an invoice, and not both", arguments: [true, false])
  func invoices(isZapFirst: Bool) throws {
    let bill = try TestInvoice(5_000, at: bench.seconds, preimage: wallet.preimage)
    let (zapJob, zap) = try zapped()
    let receipt = try wallet.receipt(zap, at: bench.seconds, preimage: wallet.preimage)
    if isZapFirst { bench.receive(receipt) }
    let job = try billed(bill.amount)
    guard isZapFirst else {
      try approve(job)
      try approve(job, preimage: wallet.preimage)
      bench.receive(receipt)
      #expect(try payment(zapJob) == .approved && payment(job) == .paid)
      return
    }
    #expect(try payment(zapJob) == .paid && refusal(job).contains("same invoice"))
    #expect(refusal(job, preimage: wallet.preimage).contains("another job"))
    #expect(try payment(job) == .asked)
  }

  @Test("proves one zap also by the word of the wallet, whenever that is named", arguments: [true, false])
  func wallets(isNamedLater: Bool) throws {
    let word = ZapWord(wallet: wallet.publicKey)
    var zaps: [(JobID, ZapRequestFact)] = []
    for _ in 0..<2 {
      let zap = try zapped()
      if !isNamedLater { try approve(zap.0, word) }
      bench.receive(try wallet.receipt(zap.1, at: bench.seconds))
      if isNamedLater { try approve(zap.0, word) }
      zaps.append(zap)
    }
    #expect(try payment(zaps[0].0) == .paid && payment(zaps[1].0) == .approved)
    #expect(bench.picture(zaps[1].0).diagnostics == [self.word: 1])
    bench.die()
    #expect(try payment(zaps[1].0) == .approved)
  }

  @Test("is taken from nobody by a receipt that proves nothing, which anybody can write")
  func stranger() throws {
    let bill = try TestInvoice(5_000, at: bench.seconds, preimage: wallet.preimage)
    let (_, zap) = try zapped()
    bench.receive(try wallet.receipt(zap, at: bench.seconds))
    let job = try billed(bill.amount)
    try approve(job)
    try approve(job, preimage: wallet.preimage)
    #expect(try payment(job) == .paid)
  }

  // MARK: Which payment a preimage proves

  /// A job of two providers, each of whom has shown an invoice.
  private func asked(_ makers: [Maker], _ bills: [TestInvoice]) throws -> JobID {
    let job = try bench.text(makers)
    for (maker, bill) in zip(makers, bills) {
      bench.receive(
        try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
    }
    return job
  }

  @Test("says whose invoice was paid, where several ask")
  func several() throws {
    let makers = [Maker(), Maker()]
    let bills = try makers.map { _ in try TestInvoice(5_000, at: bench.seconds) }
    let job = try asked(makers, bills)
    #expect(throws: Refusal.self) { try approve(job) }
    #expect(refusal(job, preimage: SHA256.hash([1])).contains("several ask"))
    try approve(job, preimage: bills[1].preimage)
    #expect(try payment(job, makers[1]) == .paid && payment(job, makers[0]) == .asked)
  }

  @Test("of an invoice that two have shown needs a name, unless it was approved for one of them")
  func copied() throws {
    let makers = [Maker(), Maker()]
    let bill = try TestInvoice(5_000, at: bench.seconds)
    let job = try asked(makers, [bill, bill])
    #expect(refusal(job, preimage: bill.preimage).contains("have shown this invoice"))
    bench.perform(try bench.book.approve(job, provider: makers[1].publicKey, preimage: nil, at: bench.now))
    try approve(job, preimage: bill.preimage)
    #expect(try payment(job, makers[1]) == .paid && payment(job, makers[0]) == .asked)
  }

  @Test("of each invoice that was approved for a provider is a proof, in either order", arguments: [true, false])
  func twice(isFirstFirst: Bool) throws {
    let job = try bench.text([maker, Maker()])
    var bills: [TestInvoice] = []
    for number in 0..<2 {
      let bill = try TestInvoice(5_000 + Int64(number), at: bench.seconds)
      bench.receive(
        try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
      bench.now += 1_000
      try approve(job)
      bench.now += 1_000
      if number == 0 { bench.perform(try bench.book.deny(job, provider: maker.publicKey, at: bench.now)) }
      bench.now += 1_000
      bills.append(bill)
    }
    let tasks = bench.tasks.count
    for bill in isFirstFirst ? bills : bills.reversed() { try approve(job, preimage: bill.preimage) }
    #expect(Set(bench.picture(job).proofs.map(\.hash)) == Set(bills.map(\.invoice.paymentHash)))
    #expect(try payment(job) == .paid && bench.tasks.count == tasks, "nothing is paid again")
    let count = bench.facts[job]?.count
    for bill in bills { try approve(job, preimage: bill.preimage) }
    #expect(bench.facts[job]?.count == count && bench.book.approvedToday(at: bench.now) == 10_001)
  }

  @Test("of several invoices with one hash counts as the highest, whichever was shown last", arguments: [true, false])
  func highest(isHighestLast: Bool) throws {
    let amounts: [Int64] = isHighestLast ? [1, 5_000] : [5_000, 1]
    let job = try bench.text([maker])
    for amount in amounts {
      bench.now += 1_000
      let bill = try TestInvoice(amount, at: bench.seconds, preimage: wallet.preimage)
      bench.receive(
        try maker.feedback(.paymentRequired, to: bench.request(job), at: bench.seconds, amount: bill.amount))
    }
    try approve(job, preimage: wallet.preimage)
    #expect(try payment(job) == .paid && bench.book.approvedToday(at: bench.now) == 5_000)
    #expect(bench.book.told(job, at: bench.now)?.providers.first?.amount == 5_000)
  }

  @Test("that somebody else has asked with is not taken by a wallet's word", arguments: [true, false])
  func foreign(isNamedLater: Bool) throws {
    let word = ZapWord(wallet: wallet.publicKey)
    let (zapJob, zap) = try zapped()
    let (bill, rival) = (try TestInvoice(5_000, at: bench.seconds, preimage: wallet.preimage), Maker())
    let job = try billed(bill.amount, by: rival)
    if !isNamedLater { try approve(zapJob, word) }
    bench.receive(try wallet.receipt(zap, at: bench.seconds))
    if isNamedLater { try approve(zapJob, word) }
    #expect(try payment(zapJob) == .approved && bench.picture(zapJob).diagnostics == [self.word: 1])
    try approve(job, preimage: bill.preimage)
    #expect(try payment(job, rival) == .paid)
  }

  // MARK: After the end

  /// A job whose zap was approved, and that is settled before its receipt has come.
  private func delivered() throws -> (JobID, ZapRequestFact) {
    let (job, zap) = try zapped()
    bench.receive(try maker.result("noon", to: bench.request(job), at: bench.seconds + 5))
    #expect(bench.state(job) == .settled && bench.picture(job).reason?.contains("no proof") == true)
    return (job, zap)
  }

  private func prove(_ job: JobID, _ preimage: Octets32, _ invoice: Invoice?) throws {
    let order = try #require(bench.orders.first { $0.id == job })
    let facts = bench.facts[job] ?? []
    bench.perform(
      try bench.book.proven(order, facts, provider: nil, preimage: preimage, invoice: invoice, at: bench.now))
  }

  @Test("of a receipt that comes when the job has ended proves the payment, for an hour", arguments: [true, false])
  func lateReceipt(isNamed: Bool) throws {
    let (job, zap) = try delivered()
    #expect(bench.book.interests.contains { $0.kinds == [EventKind.zapReceipt] && $0.events == [zap.target] })
    bench.die()
    let preimage = isNamed ? nil : wallet.preimage
    bench.receive(try wallet.receipt(zap, at: bench.seconds, preimage: preimage))
    if isNamed {
      #expect(try payment(job) == .approved && bench.picture(job).diagnostics == [JobPicture.lateWord: 1])
      let order = try #require(bench.orders.first { $0.id == job })
      let facts = bench.facts[job] ?? []
      bench.perform(
        try bench.book.walletNamed(order, facts, provider: nil, wallet: wallet.publicKey, at: bench.now))
    }
    #expect(try payment(job) == .paid && bench.picture(job).reason == nil && bench.picture(job).diagnostics.isEmpty)
    #expect(bench.closed == [job] && bench.picture(job).taken?.content == "noon")
    let (other, _) = try delivered()
    bench.pass(seconds: 3_599)
    #expect(!bench.closed.contains(other))
    bench.pass(seconds: 2)
    #expect(bench.closed.contains(other) && bench.book.interests.isEmpty)
  }

  @Test("of a zap's invoice is taken when the job has ended, or refused for what is wrong", arguments: [true, false])
  func lateInvoice(isClosed: Bool) throws {
    let (job, zap) = try delivered()
    if isClosed { bench.pass(seconds: 3_600) }
    let text = String(decoding: zap.json, as: UTF8.self)
    func refusal(_ preimage: Octets32, _ invoice: Invoice?) -> String {
      let refusal = #expect(throws: Refusal.self) { try prove(job, preimage, invoice) }
      return refusal?.message ?? ""
    }
    let good = try wallet.invoice(for: text, 5_000, at: bench.seconds)
    #expect(refusal(wallet.preimage, nil).contains("'invoice'"))
    #expect(try refusal(wallet.preimage, wallet.invoice(for: "{}", 5_000, at: bench.seconds)).contains("not made for"))
    #expect(try refusal(wallet.preimage, wallet.invoice(for: text, 1, at: bench.seconds)).contains("another amount"))
    #expect(refusal(SHA256.hash([1]), good).contains("not that of this invoice"))
    try prove(job, wallet.preimage, good)
    #expect(try payment(job) == .paid && bench.picture(job).reason == nil && bench.payments.count == 1)
    let count = bench.facts[job]?.count
    try prove(job, wallet.preimage, good)
    #expect(bench.facts[job]?.count == count && bench.closed == [job])
  }

  // MARK: Room

  @Test("has a place with the receipt that proves it, however many came that prove nothing", arguments: [true, false])
  func room(isPreimage: Bool) throws {
    let (job, zap) = try zapped()
    for number in 0..<40 {
      let amount: Int64? = number.isMultiple(of: 2) ? nil : 1_000 + Int64(number)
      bench.receive(try TestWallet().receipt(zap, at: bench.seconds, amount: amount))
    }
    #expect(try bench.pair(job, maker).receipts.count == bench.book.limits.receiptMaximum)
    if isPreimage {
      bench.receive(try wallet.receipt(zap, at: bench.seconds, preimage: wallet.preimage))
    } else {
      try approve(job, ZapWord(wallet: wallet.publicKey))
      bench.receive(try wallet.receipt(zap, at: bench.seconds))
    }
    #expect(try payment(job) == .paid)
    bench.die()
    #expect(try payment(job) == .paid)
  }

  @Test("of a receipt that a wallet may vouch for later displaces one with which something is wrong")
  func displaced() throws {
    let (job, zap) = try zapped()
    for number in 0..<20 {
      bench.receive(try TestWallet().receipt(zap, at: bench.seconds, amount: 1_000 + Int64(number)))
    }
    bench.receive(try wallet.receipt(zap, at: bench.seconds))
    let maximum = bench.book.limits.receiptMaximum
    #expect(bench.picture(job).diagnostics["receipt-of-another-amount"] == maximum - 1)
    #expect(bench.book.told(job, at: bench.now)?.diagnostics["not-kept"] == 5)
    bench.die()
    try approve(job, ZapWord(wallet: wallet.publicKey))
    #expect(try payment(job) == .paid)
  }
}
