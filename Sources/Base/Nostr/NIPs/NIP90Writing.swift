public import Addresses
public import Cryptography

// Requests, results and feedback in NIP-90's form, unsigned. What the NIP does not allow is refused here, because a
// provider would refuse it without a message.

extension JobTerms {
  /// The tags that an encrypted request hides, as JSON: `[["i","…","text"],["param","model","…"]]`. They must be
  /// encrypted for the one provider, with NIP-44, or with NIP-04 for an old one.
  ///
  /// Only inputs and parameters: where to answer and for how much stays in clear, or no provider could answer.
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

  /// The unsigned request.
  ///
  /// - Parameters:
  ///   - customer: the author of the request.
  ///   - createdAt: seconds since 1970.
  ///   - ciphertext: the encrypted ``secretTags()``; for encrypted requests only.
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

  /// Checks that NIP-90 allows all of it.
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
  /// `["i", <data>, <type>, <relay>, <marker>]`, without empty strings at its end.
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

  /// `["amount", <millisatoshis>, <invoice>]`; a missing number is taken from the invoice.
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
  /// The unsigned result of this request, for its provider to sign.
  ///
  /// It repeats the request as it was published (`request`), so that nothing of an encrypted one is in clear, and the
  /// inputs of an unencrypted one.
  ///
  /// - Parameters:
  ///   - content: the result; for an encrypted request, encrypted for the customer.
  ///   - provider: the signer.
  ///   - createdAt: seconds since 1970.
  ///   - amount: the price; nil: none.
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

  /// Unsigned feedback about this request, for its provider to sign.
  ///
  /// - Parameters:
  ///   - status: the status to report.
  ///   - remark: the same for people; up to ``JobLimits/remarkByteCountMaximum`` bytes. It is never encrypted.
  ///   - content: a part of the result; for an encrypted request, encrypted for the customer.
  ///   - provider: the signer.
  ///   - createdAt: seconds since 1970.
  ///   - amount: the price; nil: none.
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

  /// Marks an encrypted content; it must be encrypted exactly if the request is.
  private func mark(_ tags: inout [[String]], _ content: String) throws(JobDraftFault) {
    let isEncrypted = EncryptedForm(of: content) != nil
    guard isEncrypted == terms.isEncrypted else { throw isEncrypted ? .encryptedUnasked : .notEncrypted }
    if isEncrypted { tags.append(["encrypted"]) }
  }
}
