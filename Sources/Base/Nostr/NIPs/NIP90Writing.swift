public import Addresses
public import Cryptography

// Requests, results and feedback as NIP-90 has them, to be signed. What it does not allow is refused here and not by
// some provider, who would refuse without a word.

extension JobTerms {
  /// The tags that an encrypted request hides, as JSON: `[["i","…","text"],["param","model","…"]]`. To be encrypted for
  /// the one provider, by NIP-44, or by NIP-04 for an old one.
  ///
  /// Only inputs and parameters: what says where and for how much to answer stays in clear, or nobody could.
  ///
  /// - Throws: what ``template(by:createdAt:ciphertext:)`` throws.
  public func secretTags() throws(JobDraftFault) -> String {
    try check()
    var json: [UInt8] = []
    CanonicalForm.append(secretTagList, to: &json)
    guard json.count <= JobLimits.secretTagsByteCountMaximum else {
      throw .tooLong("what is to be encrypted", byteCount: json.count, maximum: JobLimits.secretTagsByteCountMaximum)
    }
    return String(decoding: json, as: UTF8.self)
  }

  /// The request, to be signed.
  ///
  /// - Parameters:
  ///   - customer: who asks.
  ///   - createdAt: seconds since 1970.
  ///   - ciphertext: what became of ``secretTags()``; for encrypted requests, and for no others.
  /// - Throws: what NIP-90 does not allow.
  public func template(
    by customer: PublicKey, createdAt: Int64, ciphertext: String? = nil
  ) throws(JobDraftFault) -> UnsignedEvent {
    try check()
    if isEncrypted {
      guard let ciphertext, EncryptedForm(of: ciphertext) != nil else { throw .notEncrypted }
    } else if ciphertext != nil {
      throw .encryptedUnasked
    }
    return UnsignedEvent(
      pubkey: customer, createdAt: createdAt, kind: kind,
      tags: (isEncrypted ? [] : secretTagList) + clearTagList, content: ciphertext ?? "")
  }

  private var secretTagList: [[String]] {
    inputs.map(\.tag) + parameters.map { ["param", $0.name] + $0.values }
  }

  private var clearTagList: [[String]] {
    var tags: [[String]] = []
    if let output, !output.isEmpty { tags.append(["output", output]) }
    if let bidMillisatoshis { tags.append(["bid", "\(bidMillisatoshis)"]) }
    if !relays.isEmpty { tags.append(["relays"] + relays.map(\.url.text)) }
    tags += providers.map { ["p", $0.description] }
    tags += topics.filter { !$0.isEmpty }.map { ["t", $0] }
    if isEncrypted { tags.append(["encrypted"]) }
    return tags
  }

  // MARK: What is allowed

  /// Makes sure that NIP-90 allows all of it.
  func check() throws(JobDraftFault) {
    guard EventKind.jobRequests.contains(kind) else { throw .kindOutOfRange(kind) }
    if isEncrypted, Set(providers).count != 1 { throw .encryptedForSeveral(providerCount: Set(providers).count) }
    try Self.count(inputs.count, "inputs", JobLimits.inputCountMaximum)
    try Self.count(parameters.count, "parameters", JobLimits.parameterCountMaximum)
    try Self.count(relays.count, "relays", JobLimits.relayCountMaximum)
    try Self.count(providers.count, "providers", JobLimits.providerCountMaximum)
    try Self.count(topics.count, "topics", JobLimits.topicCountMaximum)
    for input in inputs { try Self.check(input) }
    for parameter in parameters { try Self.check(parameter) }
    try Self.length(output ?? "", "the output's form", JobLimits.wordByteCountMaximum)
    for topic in topics { try Self.length(topic, "a topic", JobLimits.wordByteCountMaximum) }
    if let bidMillisatoshis { try JobAmount.check(bidMillisatoshis) }
  }

  private static func check(_ input: JobInput) throws(JobDraftFault) {
    guard let form = input.form else { throw .unknownInputType(String(input.type.prefix(40))) }
    guard !input.data.isEmpty else { throw .emptyInput }
    try length(input.data, "an input", JobLimits.inputByteCountMaximum)
    try length(input.marker ?? "", "an input's marker", JobLimits.wordByteCountMaximum)
    switch form {
    case .event, .job: guard input.eventID != nil else { throw .inputIsNoEventID(type: input.type) }
    case .url:
      let hasBlanks = input.data.unicodeScalars.contains { $0.properties.isWhitespace }
      guard !hasBlanks else { throw .inputIsNoURL }
    case .text: break
    }
  }

  private static func check(_ parameter: JobParameter) throws(JobDraftFault) {
    guard !parameter.name.isEmpty, !parameter.values.isEmpty else { throw .emptyParameter }
    try count(parameter.values.count, "values of a parameter", JobLimits.valueCountMaximum)
    for text in [parameter.name] + parameter.values {
      try length(text, "a parameter", JobLimits.parameterByteCountMaximum)
    }
  }

  private static func count(_ count: Int, _ things: String, _ maximum: Int) throws(JobDraftFault) {
    guard count <= maximum else { throw .tooMany(things, count: count, maximum: maximum) }
  }

  fileprivate static func length(_ text: String, _ thing: String, _ maximum: Int) throws(JobDraftFault) {
    guard text.utf8.count <= maximum else { throw .tooLong(thing, byteCount: text.utf8.count, maximum: maximum) }
  }
}

extension JobInput {
  /// `["i", <data>, <type>, <relay>, <marker>]`, without what is empty at its end.
  var tag: [String] {
    var tag = ["i", data]
    if !type.isEmpty || relay != nil || marker != nil { tag.append(type) }
    if relay != nil || marker != nil { tag.append(relay?.text ?? "") }
    if let marker { tag.append(marker) }
    return tag
  }
}

extension JobAmount {
  static func check(_ millisatoshis: Int64) throws(JobDraftFault) {
    guard millisatoshis >= 0 else { throw .notAnAmount("\(millisatoshis)") }
    guard millisatoshis <= millisatoshisMaximum else { throw .amountTooLarge(millisatoshis: millisatoshis) }
  }

  /// `["amount", <millisatoshis>, <invoice>]`; the number is the invoice's where there is none.
  fileprivate func tag() throws(JobDraftFault) -> [String] {
    guard let millisatoshis = millisatoshis ?? invoice?.amountMillisatoshis else { throw .notAnAmount("") }
    try Self.check(millisatoshis)
    guard let invoice else { return ["amount", "\(millisatoshis)"] }
    guard invoice.amountMillisatoshis == millisatoshis else {
      throw .invoiceContradictsAmount(millisatoshis: millisatoshis, invoice: invoice.amountMillisatoshis)
    }
    return ["amount", "\(millisatoshis)", invoice.text]
  }
}

// MARK: A provider's answers

extension JobRequest {
  /// The result of this request, to be signed by its provider.
  ///
  /// It repeats the request as it was published (`request`), so that nothing of an encrypted one is in clear, and the
  /// inputs of one that is not encrypted.
  ///
  /// - Parameters:
  ///   - content: the result; of an encrypted request, encrypted for the customer.
  ///   - provider: who signs.
  ///   - createdAt: seconds since 1970.
  ///   - amount: what is asked for it; nil: nothing.
  ///   - relay: where the request was seen.
  public func resultTemplate(
    _ content: String, by provider: PublicKey, createdAt: Int64, amount: JobAmount? = nil, relay: RelayURL? = nil
  ) throws(JobDraftFault) -> UnsignedEvent {
    var tags: [[String]] = []
    let json = event.json
    if json.count <= JobLimits.requestTagByteCountMaximum {
      tags.append(["request", String(decoding: json, as: UTF8.self)])
    }
    tags += references(relay)
    if !terms.isEncrypted { tags += terms.inputs.map(\.tag) }
    if let amount { tags.append(try amount.tag()) }
    try mark(&tags, content)
    return UnsignedEvent(
      pubkey: provider, createdAt: createdAt, kind: terms.resultKind, tags: tags, content: content)
  }

  /// Feedback about this request, to be signed by its provider.
  ///
  /// - Parameters:
  ///   - status: what there is to say.
  ///   - remark: the same for people; up to ``JobLimits/remarkByteCountMaximum`` bytes. It is never encrypted.
  ///   - content: a part of the result; of an encrypted request, encrypted for the customer.
  ///   - provider: who signs.
  ///   - createdAt: seconds since 1970.
  ///   - amount: what is to be paid; nil: nothing.
  ///   - relay: where the request was seen.
  public func feedbackTemplate(
    _ status: JobStatus, remark: String? = nil, content: String = "", by provider: PublicKey, createdAt: Int64,
    amount: JobAmount? = nil, relay: RelayURL? = nil
  ) throws(JobDraftFault) -> UnsignedEvent {
    try JobTerms.length(remark ?? "", "the text beside the status", JobLimits.remarkByteCountMaximum)
    var tags = [["status", status.rawValue] + (remark.map { [$0] } ?? [])]
    if let amount { tags.append(try amount.tag()) }
    tags += references(relay)
    if !content.isEmpty { try mark(&tags, content) }
    return UnsignedEvent(
      pubkey: provider, createdAt: createdAt, kind: EventKind.jobFeedback, tags: tags, content: content)
  }

  private func references(_ relay: RelayURL?) -> [[String]] {
    [["e", id.description] + (relay.map { [$0.text] } ?? []), ["p", customer.description]]
  }

  /// Says that the content is encrypted, which must be so exactly when the request is.
  private func mark(_ tags: inout [[String]], _ content: String) throws(JobDraftFault) {
    let isEncrypted = EncryptedForm(of: content) != nil
    guard isEncrypted == terms.isEncrypted else { throw isEncrypted ? .encryptedUnasked : .notEncrypted }
    if isEncrypted { tags.append(["encrypted"]) }
  }
}
