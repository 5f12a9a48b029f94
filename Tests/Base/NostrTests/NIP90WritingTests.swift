import Addresses
import Cryptography
import Nostr
import TestSupport
import Testing

@Suite("Jobs (NIP-90), written") struct NIP90WritingTests {
  private let customer = SecretKey.generate()
  private let provider = SecretKey.generate()
  private let id = EventID(SHA256.hash([1]))

  private func template(_ terms: JobTerms, ciphertext: String? = nil) throws(JobDraftFault) -> UnsignedEvent {
    try terms.template(by: customer.publicKey, createdAt: 9, ciphertext: ciphertext)
  }

  private func anyTerms(_ random: inout EventGenerator) throws -> JobTerms {
    var terms = JobTerms(kind: UInt16(5_000 + random.below(1_000)))
    terms.inputs = try (0..<random.below(4)).map { _ in
      let form = JobInput.Form.allCases[random.below(4)]
      let data =
        switch form {
        case .url: "https://x.example/\(random.below(99))"
        case .event, .job: try random.octets().description
        case .text: "t" + random.text(10)
        }
      return JobInput(
        data, form, relay: random.oneIn(2) ? try random.relays().first : nil,
        marker: random.oneIn(2) ? "m" + random.text(4) : nil)
    }
    terms.parameters = (0..<random.below(4)).map { _ in
      JobParameter("n" + random.text(4), (0...random.below(3)).map { _ in random.text(5) })
    }
    terms.output = random.oneIn(2) ? "text/plain" : nil
    terms.bidMillisatoshis = random.oneIn(2) ? Int64(random.below(1 << 40)) : nil
    terms.relays = try random.relays().map { ForeignRelayURL($0) }
    terms.providers = try (0..<random.below(3)).map { _ in PublicKey(try random.octets()) }
    terms.topics = (0..<random.below(3)).map { "t\($0)" }
    return terms
  }

  @Test("A request that was written is read as it was meant, without a word against it", arguments: seeds(8))
  func roundTrip(seed: UInt64) throws {
    var random = EventGenerator(seed: seed)
    for _ in 0..<20 {
      let terms = try anyTerms(&random)
      let request = try JobRequest(template(terms).signed(by: customer))
      #expect(request.terms == terms && request.diagnostics.isEmpty && request.customer == customer.publicKey)
    }
  }

  @Test("Defect 3: of an encrypted request inputs and parameters are hidden, and nothing else", arguments: seeds(6))
  func encrypted(seed: UInt64) throws {
    var random = EventGenerator(seed: seed)
    var terms = try anyTerms(&random)
    terms.inputs.append(JobInput("the secret", .text))
    terms.isEncrypted = true
    terms.providers = [provider.publicKey]
    let key = try ConversationKey(customer, provider.publicKey)
    let written = try template(terms, ciphertext: NIP44.encrypt(terms.secretTags(), with: key))
    #expect(written.tags.allSatisfy { $0[0] != "i" && $0[0] != "param" })
    let request = try JobRequest(written.signed(by: customer))
    #expect(request.terms.relays == terms.relays && request.terms.bidMillisatoshis == terms.bidMillisatoshis)
    #expect(request.terms.output == terms.output && request.terms.topics == terms.topics && !request.isReadable)
    let ciphertext = try #require(request.content.ciphertext)
    let read = request.decrypted(try NIP44.decryptText(ciphertext, with: ConversationKey(provider, customer.publicKey)))
    #expect(read.terms == terms && read.diagnostics.isEmpty)
  }

  @Test("What NIP-90 does not allow is refused in the words of who asked")
  func refused() throws {
    func refuse(_ fault: JobDraftFault, _ change: (inout JobTerms) -> Void) {
      var terms = JobTerms(kind: 5_050)
      change(&terms)
      #expect(throws: fault) { try template(terms) }
      #expect(throws: fault) { try terms.secretTags() }
      #expect(!fault.description.isEmpty)
    }
    refuse(.kindOutOfRange(6_000)) { $0.kind = 6_000 }
    refuse(.kindOutOfRange(4_999)) { $0.kind = 4_999 }
    refuse(.unknownInputType("prompt")) { $0.inputs = [JobInput("x", type: "prompt")] }
    refuse(.unknownInputType("")) { $0.inputs = [JobInput("x", type: "")] }
    refuse(.inputIsNoEventID(type: "event")) { $0.inputs = [JobInput("note1x", .event)] }
    refuse(.inputIsNoEventID(type: "job")) { $0.inputs = [JobInput("x", .job)] }
    refuse(.inputIsNoURL) { $0.inputs = [JobInput("two words", .url)] }
    refuse(.emptyInput) { $0.inputs = [JobInput("", .text)] }
    refuse(.emptyInput) { $0.inputs = [JobInput("", .url)] }
    refuse(.emptyParameter) { $0.parameters = [JobParameter("", "x")] }
    refuse(.emptyParameter) { $0.parameters = [JobParameter("x", [])] }
    refuse(.notAnAmount("-5")) { $0.bidMillisatoshis = -5 }
    refuse(.amountTooLarge(millisatoshis: .max)) { $0.bidMillisatoshis = .max }
    refuse(.encryptedForSeveral(providerCount: 0)) { $0.isEncrypted = true }
    refuse(.encryptedForSeveral(providerCount: 2)) {
      $0.isEncrypted = true
      $0.providers = [customer.publicKey, provider.publicKey]
    }
    refuse(.tooMany("inputs", count: 65, maximum: 64)) { $0.inputs = Array(repeating: JobInput("x", .text), count: 65) }
    refuse(.tooMany("topics", count: 51, maximum: 50)) { $0.topics = Array(repeating: "x", count: 51) }
    refuse(.tooLong("a topic", byteCount: 513, maximum: 512)) { $0.topics = [String(repeating: "x", count: 513)] }
  }

  @Test("A ciphertext is there exactly when the request is encrypted")
  func ciphertexts() throws {
    let clear = JobTerms(kind: 5_050)
    let secret = JobTerms(kind: 5_050, providers: [provider.publicKey], isEncrypted: true)
    #expect(throws: JobDraftFault.encryptedUnasked) { try template(clear, ciphertext: NIP90RequestTests.nip44) }
    #expect(throws: JobDraftFault.notEncrypted) { try template(secret) }
    #expect(throws: JobDraftFault.notEncrypted) { try template(secret, ciphertext: "[[\"i\",\"x\",\"text\"]]") }
    #expect(try template(secret, ciphertext: NIP90RequestTests.nip04).tags.last == ["encrypted"])
  }

  @Test(
    "A bid is a whole number of millisatoshis, as it is typed",
    arguments: ["", "ten", "1.5", "-1", "1_000", "0x10", " 5", "007", "99999999999999999999"])
  func typedBids(text: String) throws {
    #expect(throws: JobDraftFault.notAnAmount(text)) { try JobAmount.millisatoshis(typed: text) }
    #expect(try JobAmount.millisatoshis(typed: "21000") == 21_000)
    #expect(throws: JobDraftFault.amountTooLarge(millisatoshis: 2_100_000_000_000_000_001)) {
      try JobAmount.millisatoshis(typed: "2100000000000000001")
    }
  }

  // MARK: Answers

  private func request(isEncrypted: Bool = false) throws -> JobRequest {
    let terms = JobTerms(
      kind: 5_300, inputs: [JobInput("the input", .text)], providers: [provider.publicKey], isEncrypted: isEncrypted)
    guard isEncrypted else { return try JobRequest(template(terms).signed(by: customer)) }
    let key = try ConversationKey(customer, provider.publicKey)
    let ciphertext = try NIP44.encrypt(terms.secretTags(), with: key)
    return try JobRequest(template(terms, ciphertext: ciphertext).signed(by: customer)).decrypted(terms.secretTags())
  }

  private func amount(_ number: Int64?, invoiced: Int64? = nil, isInvoiced: Bool = true) throws -> JobAmount {
    let terms = InvoiceTerms(
      amountMillisatoshis: invoiced ?? number, paymentHash: SHA256.hash([1]), createdAt: 5, descriptionText: "")
    return JobAmount(millisatoshis: number, invoice: isInvoiced ? try terms.signed(by: customer) : nil)
  }

  @Test("A result and feedback that were written are read as they were meant")
  func answers() throws {
    let request = try request()
    let relay = try RelayURL("wss://r.example")
    let result = try JobResult(
      request.resultTemplate("[]", by: provider.publicKey, createdAt: 10, amount: amount(5_000), relay: relay)
        .signed(by: provider))
    #expect(result.answer.diagnostics.isEmpty && result.answer.contradictions(to: request).isEmpty)
    #expect(result.answer.repeatedRequest == request.event && result.answer.amount?.agreement == .equal)
    #expect(result.inputs == request.terms.inputs && result.answer.requestRelay == relay && result.answer.kind == 6_300)
    for status in JobStatus.allCases {
      let feedback = try JobFeedback(
        request.feedbackTemplate(
          status, remark: "why", content: "part", by: provider.publicKey, createdAt: 10,
          amount: amount(7, isInvoiced: false)
        ).signed(by: provider))
      #expect(feedback.answer.diagnostics.isEmpty && feedback.status == status && feedback.content == .clear("part"))
      #expect(feedback.answer.remark == "why" && feedback.answer.amount?.agreement == .numberOnly)
      #expect(feedback.answer.contradictions(to: request).isEmpty)
    }
  }

  @Test("Nothing of an encrypted request is in clear in its answers, and they must be encrypted")
  func encryptedAnswers() throws {
    let request = try request(isEncrypted: true)
    #expect(request.terms.inputs == [JobInput("the input", .text)])
    #expect(throws: JobDraftFault.notEncrypted) {
      try request.resultTemplate("[]", by: provider.publicKey, createdAt: 10)
    }
    #expect(throws: JobDraftFault.notEncrypted) {
      try request.feedbackTemplate(.partial, content: "half", by: provider.publicKey, createdAt: 10)
    }
    let written = try request.resultTemplate(NIP90RequestTests.nip44, by: provider.publicKey, createdAt: 10)
    #expect(!String(decoding: written.json, as: UTF8.self).contains("the input"))
    let result = try JobResult(written.signed(by: provider))
    #expect(result.answer.diagnostics.isEmpty && result.content.ciphertext != nil && result.inputs.isEmpty)
    #expect(result.answer.repeatedRequest == request.event)
    // Whether something is being worked on is no secret.
    let feedback = try request.feedbackTemplate(.processing, by: provider.publicKey, createdAt: 10)
    #expect(!feedback.tags.contains(["encrypted"]))
    let plain = try self.request()
    #expect(throws: JobDraftFault.encryptedUnasked) {
      try plain.resultTemplate(NIP90RequestTests.nip44, by: provider.publicKey, createdAt: 10)
    }
  }

  @Test("Defect 12: a provider does not write an amount that its invoice contradicts")
  func amounts() throws {
    let request = try request()
    func write(_ amount: JobAmount) throws -> UnsignedEvent {
      try request.feedbackTemplate(.paymentRequired, by: provider.publicKey, createdAt: 10, amount: amount)
    }
    #expect(throws: JobDraftFault.invoiceContradictsAmount(millisatoshis: 5, invoice: 5_000)) {
      try write(amount(5, invoiced: 5_000))
    }
    #expect(throws: JobDraftFault.notAnAmount("")) { try write(JobAmount(millisatoshis: nil)) }
    #expect(throws: JobDraftFault.notAnAmount("-1")) { try write(JobAmount(millisatoshis: -1)) }
    let written = try write(amount(nil, invoiced: 5_000))
    #expect(written.tags.first { $0[0] == "amount" }?[1] == "5000")
    #expect(throws: JobDraftFault.self) {
      try request.feedbackTemplate(
        .error, remark: String(repeating: "x", count: 4_097), by: provider.publicKey, createdAt: 1)
    }
  }
}
