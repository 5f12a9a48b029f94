internal import Cryptography

// What answers say about themselves. They name their request twice, by `e` and by repeating it completely, and in real
// events the two sometimes contradict each other. Here `e` counts, because relays are queried by it; a contradiction in
// the repeated request is recorded.

extension JobTagReading {
  /// Reads what results and feedback have in common.
  ///
  /// - Throws: `namesNoRequest`.
  mutating func answer(_ event: Event, _ content: JobContent) throws(JobFault) -> JobAnswer {
    let repeated = repeatedRequest(event.tags)
    let reference = try request(event.tags, repeated)
    let recipients = recipients(event.tags)
    if let repeated { compare(repeated, with: event, reference.id, recipients) }
    if recipients.isEmpty { note(.customerMissing) }
    let author = repeated?.pubkey
    let customer = author.flatMap { recipients.contains($0) ? $0 : nil } ?? recipients.first ?? author
    var answer = JobAnswer(
      id: event.id, provider: event.pubkey, createdAt: event.createdAt, kind: event.kind, requestID: reference.id,
      requestRelay: reference.relay, repeatedRequest: repeated, customer: customer, recipients: recipients,
      amount: nil, status: nil, statusText: "", remark: nil, diagnostics: JobDiagnostics())
    readStatus(event.tags, into: &answer, isEncrypted: content.ciphertext != nil)
    answer.amount = amount(event.tags)
    answer.diagnostics = diagnostics
    return answer
  }

  // MARK: The request

  private mutating func repeatedRequest(_ tags: [[String]]) -> Event? {
    guard let text = tags.firstValue(of: "request") else { return nil }
    guard text.utf8.count <= JobLimits.requestTagByteCountMaximum else {
      note(.beyondLimit)
      return nil
    }
    do throws(EventFault) {
      let event = try Event(json: Array(text.utf8))
      if event.unsigned.id == event.id { return event }
      note(.requestHasWrongID)
    } catch {
      note(.requestIsNoEvent)
    }
    return nil
  }

  /// The answered request: of several tags `e` the one whose event is repeated, else the one marked as the job, else
  /// the first.
  private mutating func request(_ tags: [[String]], _ repeated: Event?) throws(JobFault) -> EventReference {
    var references: [(reference: EventReference, marker: String)] = []
    for tag in tags.named("e").prefix(JobLimits.referenceCountMaximum) {
      if let reference = EventReference(tag) {
        references.append((reference, tag.count > 3 ? tag[3] : ""))
      } else {
        note(.badEventID)
      }
    }
    if let repeated, let named = references.first(where: { $0.reference.id == repeated.id }) { return named.reference }
    if let named = references.first(where: { $0.marker == "job" }) ?? references.first { return named.reference }
    guard let repeated else { throw .namesNoRequest }
    note(.requestWithoutEventTag)
    return EventReference(id: repeated.id)
  }

  private mutating func recipients(_ tags: [[String]]) -> [PublicKey] {
    var keys: [PublicKey] = []
    for tag in tags.named("p") {
      guard let key = key(tag), !keys.contains(key) else { continue }
      guard keys.count < JobLimits.providerCountMaximum else {
        note(.beyondLimit)
        break
      }
      keys.append(key)
    }
    return keys
  }

  private mutating func compare(
    _ repeated: Event, with event: Event, _ requestID: EventID, _ recipients: [PublicKey]
  ) {
    if repeated.id != requestID { note(.requestContradictsEventTag) }
    if event.kind != EventKind.jobFeedback, Int(repeated.kind) + 1_000 != Int(event.kind) {
      note(.requestContradictsKind)
    }
    if !recipients.isEmpty, !recipients.contains(repeated.pubkey) { note(.requestContradictsCustomer) }
  }

  // MARK: Status and amount

  private mutating func readStatus(_ tags: [[String]], into answer: inout JobAnswer, isEncrypted: Bool) {
    let isFeedback = answer.kind == EventKind.jobFeedback
    guard let tag = tags.named("status").first else {
      if isFeedback, !isEncrypted { note(.statusMissing) }
      return
    }
    guard let text = word(tag) else { return }
    if !isFeedback { note(.statusOnResult) }
    answer.statusText = text
    answer.status = JobStatus(reading: text)
    if answer.status == nil {
      note(.unknownStatus)
    } else if answer.status?.rawValue.hasSameBytes(as: text) == false {
      note(.statusMisspelled)
    }
    guard tag.count > 2, !tag[2].isEmpty else { return }
    if tag[2].utf8.count > JobLimits.remarkByteCountMaximum { return note(.beyondLimit) }
    answer.remark = tag[2]
  }

  private mutating func amount(_ tags: [[String]]) -> JobAmount? {
    guard let tag = tags.named("amount").first else { return nil }
    let millisatoshis = word(tag).flatMap { number($0) }
    let amount = invoice(beside: millisatoshis, tag.count > 2 ? tag[2] : "")
    switch amount.agreement {
    case .different: note(.amountContradictsInvoice)
    case .satoshis: note(.amountInSatoshis)
    case .nothing, .numberOnly, .invoiceOnly, .equal, .openInvoice: break
    }
    return amount
  }

  private mutating func invoice(beside millisatoshis: Int64?, _ text: String) -> JobAmount {
    if text.isEmpty { return JobAmount(millisatoshis: millisatoshis) }
    guard text.utf8.count <= Invoice.characterCountMaximum else {
      note(.beyondLimit)
      return JobAmount(millisatoshis: millisatoshis)
    }
    do throws(InvoiceFault) {
      return JobAmount(millisatoshis: millisatoshis, invoice: try Invoice(text))
    } catch {
      note(Invoice.isSuggested(by: text) ? .brokenInvoice : .amountWithoutInvoice)
      return JobAmount(millisatoshis: millisatoshis, otherText: text)
    }
  }

  // MARK: Decrypted feedback

  /// See ``JobFeedback/decrypted(_:)``.
  static func decrypted(_ feedback: JobFeedback, _ plaintext: String) -> JobFeedback {
    var answer = feedback.answer
    // A partial result may be a list of tags as well, but of other tags.
    guard plaintext.utf8.count <= JobLimits.secretTagsByteCountMaximum, let tags = TagList.read(plaintext),
      tags.hasTag("content") || tags.hasTag("status")
    else {
      if answer.statusText.isEmpty { answer.diagnostics.note(.statusMissing) }
      return JobFeedback(answer: answer, content: plaintext.isEmpty ? .empty : .clear(plaintext))
    }
    var reading = JobTagReading(terms: JobTerms(kind: answer.kind), diagnostics: answer.diagnostics)
    reading.note(.decryptedIsTagList)
    if answer.statusText.isEmpty { reading.readStatus(tags, into: &answer, isEncrypted: false) }
    if answer.amount == nil { answer.amount = reading.amount(tags) }
    answer.diagnostics = reading.diagnostics
    let text = tags.firstValue(of: "content") ?? ""
    return JobFeedback(answer: answer, content: text.isEmpty ? .empty : .clear(text))
  }
}
