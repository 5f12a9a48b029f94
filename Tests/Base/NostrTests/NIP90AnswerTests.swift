import Addresses
import Cryptography
import Nostr
import TestSupport
import Testing

@Suite("Results and feedback of jobs (NIP-90), read") struct NIP90AnswerTests {
  private let id = String(repeating: "ab", count: 32)
  private let node = SecretKey.generate()

  private func request(kind: UInt16 = 5_300, tags: [[String]] = [["i", "x", "text"]]) throws -> JobRequest {
    try JobRequest(testEvent(kind: kind, tags: tags, key: 3))
  }

  private func result(_ tags: [[String]], kind: UInt16 = 6_300, content: String = "[]") throws -> JobResult {
    try JobResult(testEvent(kind: kind, tags: tags, content: content))
  }

  private func feedback(_ tags: [[String]], content: String = "") throws -> JobFeedback {
    try JobFeedback(testEvent(kind: 7_000, tags: [["e", id], ["p", id]] + tags, content: content))
  }

  private func invoice(_ amount: Int64?) throws -> Invoice {
    try InvoiceTerms(
      amountMillisatoshis: amount, paymentHash: SHA256.hash([1]), createdAt: 5, descriptionText: "a job"
    ).signed(by: node)
  }

  private func json(_ event: Event) -> String { String(decoding: event.json, as: UTF8.self) }

  @Test("A result as the NIP has it is read whole, and belongs to its request")
  func whole() throws {
    let request = try request()
    let invoice = try invoice(5_000)
    let result = try result([
      ["request", json(request.event)], ["e", request.id.description, "wss://r.example/"], ["i", "x", "text"],
      ["p", request.customer.description], ["amount", "5000", invoice.text],
    ])
    let answer = result.answer
    #expect(answer.diagnostics.isEmpty && answer.requestID == request.id && answer.customer == request.customer)
    #expect(answer.requestRelay?.text == "wss://r.example" && answer.repeatedRequest == request.event)
    #expect(answer.amount?.millisatoshis == 5_000 && answer.amount?.invoice == invoice && answer.status == nil)
    #expect(result.inputs == [JobInput("x", .text)] && result.content == .clear("[]"))
    #expect(answer.contradictions(to: request).isEmpty && result.schemaVerdict == .holds)
  }

  @Test("What answers no request is dropped for that reason, and counted")
  func answerToNothing() {
    for tags in [[], [["p", id]], [["e", "x"]], [["request", "x"], ["e"]], [["request", "{}"]]] {
      #expect(throws: JobFault.namesNoRequest) { try result(tags) }
      #expect(throws: JobFault.namesNoRequest) { try JobFeedback(testEvent(kind: 7_000, tags: tags)) }
    }
    #expect(JobFault.namesNoRequest.diagnostic == .answerToNothing)
    #expect(JobFault.wrongKind(1, expected: 7_000...7_000).diagnostic == nil)
    #expect(throws: JobFault.wrongKind(7_000, expected: 6_000...6_999)) { try JobResult(testEvent(kind: 7_000)) }
    #expect(throws: JobFault.wrongKind(6_000, expected: 7_000...7_000)) { try JobFeedback(testEvent(kind: 6_000)) }
  }

  @Test("A repeated request that is none, or not what it says, does not count, and is noted")
  func repeatedRequests() throws {
    let request = try request()
    let changed = json(request.event).replacing("\"x\"", with: "\"y\"")
    for (text, diagnostic) in [("hello", JobDiagnostic.requestIsNoEvent), (changed, .requestHasWrongID)] {
      let result = try result([
        ["e", request.id.description], ["p", request.customer.description], ["request", text],
      ])
      #expect(result.answer.repeatedRequest == nil && result.answer.diagnostics.counts == [diagnostic: 1])
    }
    let alone = try result([["request", json(request.event)], ["p", request.customer.description]])
    #expect(alone.answer.requestID == request.id && alone.answer.diagnostics.counts == [.requestWithoutEventTag: 1])
    let long = try result([["e", id], ["p", id], ["request", String(repeating: " ", count: 300_000)]])
    #expect(long.answer.diagnostics.counts == [.beyondLimit: 1])
  }

  @Test("What contradicts itself is noted, and what contradicts the request is told")
  func contradictions() throws {
    let request = try request()
    let other = try JobRequest(testEvent(kind: 5_050, key: 4))
    let result = try result([
      ["request", json(other.event)], ["e", request.id.description], ["p", request.customer.description],
    ])
    #expect(
      result.answer.diagnostics.counts == [
        .requestContradictsEventTag: 1, .requestContradictsKind: 1, .requestContradictsCustomer: 1,
      ])
    #expect(result.answer.requestID == request.id)
    #expect(result.answer.contradictions(to: request) == [.otherRepeated(other.id)])
    #expect(
      result.answer.contradictions(to: other) == [
        .otherRequest(request.id), .otherKind(6_300), .otherCustomer(request.customer),
      ])
  }

  @Test("Of several references the repeated one counts, then the one marked as the job, then the first")
  func references() throws {
    let request = try request()
    let named = ["e", request.id.description]
    let tags = [["e", id], named, ["p", id], ["p", request.customer.description]]
    let repeating = try result(tags + [["request", json(request.event)]])
    #expect(repeating.answer.requestID == request.id && repeating.answer.customer == request.customer)
    #expect(try result(tags).answer.requestID.description == id)
    #expect(try result([["e", id], named + ["", "job"], ["p", id]]).answer.requestID == request.id)
    #expect(try result(tags).answer.contradictions(to: request) == [.otherRequest(#require(EventID(id)))])
    #expect(try result([["e", "x"], named]).answer.diagnostics.counts == [.badEventID: 1, .customerMissing: 1])
  }

  // MARK: Status

  @Test(
    "Defect 1: a status is known in the NIP's spelling and in those of libraries",
    arguments: [
      ("payment-required", JobStatus.paymentRequired, nil), ("payment_required", .paymentRequired, .statusMisspelled),
      ("paymentRequired", .paymentRequired, .statusMisspelled),
      ("Payment Required", .paymentRequired, .statusMisspelled),
      ("processing", .processing, nil), ("PROCESSING", .processing, .statusMisspelled),
      ("scheduled", .processing, .statusMisspelled), ("chain-scheduled", .processing, .statusMisspelled),
      ("error", .error, nil), ("success", .success, nil), ("partial", .partial, nil),
      ("payment-rejected", nil, .unknownStatus), ("subscription-required", nil, .unknownStatus),
      ("pong", nil, .unknownStatus), ("", nil, .tagWithoutValue),
    ] as [(String, JobStatus?, JobDiagnostic?)])
  func statuses(text: String, status: JobStatus?, diagnostic: JobDiagnostic?) throws {
    let feedback = try feedback([["status", text, "for people"]])
    #expect(feedback.status == status && feedback.answer.statusText == text)
    #expect(feedback.answer.diagnostics.counts == (diagnostic.map { [$0: 1] } ?? [:]))
    #expect(feedback.answer.remark == (text.isEmpty ? nil : "for people"))
  }

  @Test("Feedback without a status is noted, and so is a result with one")
  func misplacedStatus() throws {
    #expect(try feedback([]).answer.diagnostics.counts == [.statusMissing: 1])
    #expect(try feedback([["encrypted"]], content: NIP90RequestTests.nip44).answer.diagnostics.isEmpty)
    let result = try result([["e", id], ["p", id], ["status", "success"]])
    #expect(result.answer.status == .success && result.answer.diagnostics.counts == [.statusOnResult: 1])
    let long = try feedback([["status", "error", String(repeating: "x", count: 5_000)]])
    #expect(long.answer.remark == nil && long.answer.diagnostics.counts == [.beyondLimit: 1])
    #expect(try feedback([["status", "partial"]], content: "half").content.text == "half")
  }

  // MARK: Amounts

  @Test("Defect 12: an amount and its invoice that say different things are told apart, satoshis by name")
  func agreement() throws {
    func amount(_ number: Int64?, _ invoiced: Int64?) throws -> JobAmount {
      JobAmount(millisatoshis: number, invoice: try invoice(invoiced))
    }
    #expect(try amount(5_000, 5_000).agreement == .equal && amount(5_000, 5_000).payableMillisatoshis == 5_000)
    #expect(try amount(5, 5_000).agreement == .satoshis && amount(5, 5_000).payableMillisatoshis == nil)
    #expect(try amount(28_125, 25_000).agreement == .different && amount(28_125, 25_000).payableMillisatoshis == nil)
    #expect(try amount(5_000, nil).agreement == .openInvoice && amount(5_000, nil).payableMillisatoshis == 5_000)
    #expect(try amount(0, nil).payableMillisatoshis == nil && amount(nil, nil).payableMillisatoshis == nil)
    #expect(try amount(nil, 7_000).agreement == .invoiceOnly && amount(nil, 7_000).payableMillisatoshis == 7_000)
    #expect(try amount(.max, 7_000).agreement == .different)
    #expect(JobAmount(millisatoshis: 5).agreement == .numberOnly && JobAmount(millisatoshis: nil).agreement == .nothing)
  }

  @Test("What stands beside an amount is an invoice when it can be decoded, and else a text that is noted")
  func amounts() throws {
    func read(_ tag: String...) throws -> JobAnswer {
      try feedback([["status", "processing"], ["amount"] + tag]).answer
    }
    let good = try invoice(5_000).text
    #expect(try read("5000", good).diagnostics.isEmpty && read("5000", good).amount?.invoiceText == good)
    #expect(try read("5000", "lightning:" + good.uppercased()).amount?.invoiceText == good)
    #expect(try read("5", good).diagnostics.counts == [.amountInSatoshis: 1])
    #expect(try read("6000", good).diagnostics.counts == [.amountContradictsInvoice: 1])
    let address = try read("100_000", "botlab@zeuspay.com")
    #expect(address.diagnostics.counts == [.groupedAmount: 1, .amountWithoutInvoice: 1])
    #expect(address.amount == JobAmount(millisatoshis: 100_000, otherText: "botlab@zeuspay.com"))
    #expect(try read("5000", String(good.dropLast())).diagnostics.counts == [.brokenInvoice: 1])
    #expect(try read("5000", "lnbc…").amount?.otherText == "lnbc…")
    #expect(try read("5000", String(repeating: "x", count: 9_000)).diagnostics.counts == [.beyondLimit: 1])
    #expect(try read("0").amount?.payableMillisatoshis == nil && read("5000", "").diagnostics.isEmpty)
    #expect(try read("much", good).amount?.agreement == .invoiceOnly)
    #expect(try read().diagnostics.counts == [.tagWithoutValue: 1])
    #expect(try feedback([["status", "error"]]).answer.amount == nil)
  }

  // MARK: Encryption

  @Test("An encrypted result is read twice: as it came, and as it was decrypted")
  func encryptedResult() throws {
    let result = try result([["e", id], ["p", id], ["encrypted"]], content: NIP90RequestTests.nip04)
    #expect(result.content.ciphertext == NIP90RequestTests.nip04 && result.schemaVerdict == .unknown)
    let read = result.decrypted("[]")
    #expect(read.content == .clear("[]") && read.schemaVerdict == .holds && read.answer == result.answer)
    #expect(result.decrypted("").content == .empty && read.decrypted("other") == read)
    var dumped = "\(read) \(String(reflecting: read))"
    dump(result.decrypted("a secret"), to: &dumped)
    #expect(!dumped.contains("a secret"))
  }

  @Test("Defect 4: encrypted feedback is a payload, as the NIP has it, or a list of tags, as one family writes it")
  func encryptedFeedback() throws {
    let feedback = try feedback([["encrypted"]], content: NIP90RequestTests.nip04)
    let payload = feedback.decrypted("half of it")
    #expect(payload.content == .clear("half of it") && payload.answer.diagnostics.counts == [.statusMissing: 1])
    let tags = feedback.decrypted(
      #"[["status","payment-required","please"],["amount","5000"],["content","half of it"],["p","x"]]"#)
    #expect(tags.content == .clear("half of it") && tags.status == .paymentRequired && tags.answer.remark == "please")
    #expect(tags.answer.amount?.millisatoshis == 5_000 && tags.answer.diagnostics.counts == [.decryptedIsTagList: 1])
    // A partial result may be a list of tags as well.
    let partial = #"[["e","\#(id)"],["a","30023:\#(id):x"]]"#
    #expect(feedback.decrypted(partial).content == .clear(partial))
    let bare = feedback.decrypted(#" ["status","success","Job has been scheduled"] "#)
    #expect(bare.status == .success && bare.content == .empty)
  }

  @Test("Tags in clear are not replaced by what was decrypted")
  func clearTagsStay() throws {
    let feedback = try feedback(
      [["encrypted"], ["status", "processing"], ["amount", "1"]], content: NIP90RequestTests.nip44)
    let read = feedback.decrypted(#"[["status","error"],["amount","9"],["content","x"]]"#)
    #expect(read.status == .processing && read.answer.amount?.millisatoshis == 1 && read.content.text == "x")
  }

  // MARK: Form

  @Test(
    "A result has the form that its kind promises, or it is said what was expected",
    arguments: [
      (6_300, "[]", true), (6_300, "hello", false), (6_300, #"[["e"]]"#, false), (6_300, #"[["p","ID"]]"#, false),
      (6_300, #"[["e","ID"],["a","30023:ID:x","wss://r.example"]]"#, true),
      (6_300, #"[ "e", "ID" ],[ "e", "ID" ]"#, true),
      (6_301, #"[["p","ID"]]"#, true), (6_302, #"[["e","ID"]]"#, true), (6_302, #"[["p","ID"]]"#, false),
      (6_303, #"[["p","ID"]]"#, true), (6_303, #"[["e","ID"]]"#, false), (6_303, #"[["p","npub1"]]"#, false),
      (6_250, "https://x.example/a.mp3", true), (6_250, "sorry", false), (6_100, "![](https://x.example)", true),
      (6_400, "129469", true), (6_400, #"{"+":31}"#, true), (6_400, "many", false), (6_400, "{x}", false),
      (6_900, " ID\n", true), (6_900, "id", false), (6_901, "ID", true), (6_905, "ID", true), (6_905, "EVENT", true),
      (6_905, "{}", false), (6_970, "EVENT", true), (6_970, "ID", false), (6_050, "Paris", true), (6_050, " \n", false),
    ])
  func schemas(kind: UInt16, text: String, holds: Bool) throws {
    let event = try json(testEvent(kind: 1))
    let text = text.replacing("EVENT", with: event).replacing("ID", with: id)
    let verdict = JobSchema.check(text, kind: kind)
    #expect((verdict == .holds) == holds && verdict != .unknown && JobSchema.knows(kind: kind))
    if case .broken(let expected) = verdict { #expect(!expected.isEmpty) }
  }

  @Test("A kind without a description takes anything")
  func unknownSchema() {
    for kind: UInt16 in [6_312, 6_999, 7_000] {
      #expect(JobSchema.check("", kind: kind) == .unknown && !JobSchema.knows(kind: kind))
    }
  }
}
