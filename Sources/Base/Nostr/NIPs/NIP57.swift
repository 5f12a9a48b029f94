public import Addresses
public import Cryptography

// Zaps (NIP-57): a payment over lightning that is shown on nostr.
//
//     request 9734, by the payer     p, relays, amount, lnurl, e, a, k
//     receipt 9735, by the wallet    bolt11, description = the request's JSON, p, P, e, a, preimage
//
// A request is never published: it goes to the payee's wallet.
// The wallet makes an invoice whose description hash is that of the request's JSON, and publishes the receipt when the
// invoice is paid. A receipt proves only that its invoice was fetched. That the invoice was paid is the claim of the
// receipt's author, which must be the key named by the payee's lnurl page.

/// Why an event is not a zap request or receipt, or not the expected one.
public enum ZapFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// An event of another kind.
  case wrongKind(UInt16, expected: UInt16)
  /// A request has exactly one `p`, which is a key; contains how many it has.
  case notOneRecipient(count: Int)
  /// A tag that may occur once occurs several times, or has an invalid value.
  case badTag(String)
  /// No place to publish the receipt: there is no tag `relays` with a relay.
  case noRelays
  /// The amount is not a number of millisatoshis from 1 up to all that will exist.
  case badAmount
  /// Another amount than expected: the request's, and that of the invoice or of the query; nil if the latter has no
  /// amount.
  case otherAmount(request: Int64, other: Int64?)
  /// A receipt has no invoice.
  case noInvoice
  /// The invoice is invalid.
  case badInvoice(InvoiceFault)
  /// A receipt does not contain the request: `description` is missing, or is not an event.
  case noRequest
  /// The request in the receipt is not valid.
  case badRequest(EventFault)
  /// The hash of the request's JSON differs from the one in the invoice.
  case otherDescription
  /// The preimage does not belong to the invoice's payment.
  case wrongPreimage
  /// The author of the receipt is not the payee's wallet.
  case otherWallet(PublicKey)
  /// Receipt and request have different recipients.
  case otherRecipient
  /// Receipt and request are about different events.
  case otherTarget
  /// The request is for another lnurl.
  case otherAddress
  /// The text is longer than a request may be.
  case tooLong(byteCount: Int, maximum: Int)

  /// A sentence.
  public var description: String {
    switch self {
    case .wrongKind(let kind, let expected): "an event of kind \(kind) where kind \(expected) was expected"
    case .notOneRecipient(let count): "a zap has one recipient, and this one has \(count)"
    case .badTag(let name): "the tag \"\(name)\" occurs several times, or has no valid value"
    case .noRelays: "the zap request says no relay for its receipt"
    case .badAmount: "the zap request's amount is no number of millisatoshis"
    case .otherAmount(let request, let other?):
      "the zap request is for \(request) millisatoshis, and the invoice for \(other)"
    case .otherAmount(let request, nil): "the zap request is for \(request) millisatoshis, and the invoice for none"
    case .noInvoice: "the zap receipt has no invoice"
    case .badInvoice(let fault): "the zap receipt's invoice cannot be used: \(fault)"
    case .noRequest: "the zap receipt does not hold its request"
    case .badRequest(let fault): "the zap receipt's request is not valid: \(fault)"
    case .otherDescription: "the invoice was made for something else than the zap request"
    case .wrongPreimage: "the preimage does not belong to the invoice"
    case .otherWallet(let key): "the zap receipt is by \(key), which is not the recipient's wallet"
    case .otherRecipient: "the zap receipt and its request have different recipients"
    case .otherTarget: "the zap receipt is about something else than its request"
    case .otherAddress: "the zap request was made for another lightning address"
    case .tooLong(let count, let maximum): "the text has \(count) bytes, and at most \(maximum) are allowed"
    }
  }
}

/// A request for a zap (kind 9734, NIP-57), made by the payer.
public struct ZapRequest: Hashable, Sendable {
  /// The event.
  public let event: Event
  /// The payee.
  public let recipient: PublicKey
  /// Where the receipt should be published, up to ``relayCountMaximum``.
  public let relays: [RelayURL]
  /// The amount, in millisatoshis; nil: not stated.
  public let amountMillisatoshis: Int64?
  /// The payee's lnurl page, `lnurl1…`, unchanged; nil: not stated.
  public let lnurl: String?
  /// The zapped event.
  public let target: EventID?
  /// The zapped address.
  public let targetAddress: EventAddress?
  /// The kind of the zapped event, according to the payer.
  public let targetKind: UInt16?
  /// The key that must sign the receipt (`P`), if the request names one.
  public let wallet: PublicKey?

  /// The most relays of a request that are read.
  public static let relayCountMaximum = 50
  /// Longest comment that is written, in bytes.
  public static let commentByteCountMaximum = 4_096

  /// The payer.
  public var sender: PublicKey { event.pubkey }
  /// The payer's comment. A stranger's text.
  public var comment: String { event.content }

  /// Reads a request and checks what appendix D of NIP-57 requires, except the signature and the amount in the query to
  /// the wallet: ``check(amountMillisatoshis:)``.
  public init(_ event: Event) throws(ZapFault) {
    guard event.kind == EventKind.zapRequest else {
      throw .wrongKind(event.kind, expected: EventKind.zapRequest)
    }
    let recipients = event.tags.named("p")
    guard recipients.count == 1, let recipient = event.firstValue(of: "p").flatMap({ PublicKey($0) }) else {
      throw .notOneRecipient(count: recipients.count)
    }
    self.event = event
    self.recipient = recipient
    target = try Self.only("e", event.tags) { EventID($0) }
    targetAddress = try Self.only("a", event.tags) { EventAddress($0) }
    wallet = try Self.only("P", event.tags) { PublicKey($0) }
    targetKind = event.firstValue(of: "k").flatMap { plainNumber($0.utf8) }.flatMap { UInt16(exactly: $0) }
    lnurl = event.firstValue(of: "lnurl").flatMap { $0.isEmpty ? nil : $0 }
    relays = Self.relays(event.tags)
    guard event.tags.hasTag("amount") else {
      amountMillisatoshis = nil
      return
    }
    guard event.tags.named("amount").count == 1, let text = event.firstValue(of: "amount"),
      let amount = plainNumber(text.utf8), (1...JobAmount.millisatoshisMaximum).contains(amount)
    else { throw .badAmount }
    amountMillisatoshis = amount
  }

  /// The value of a tag that may occur once.
  private static func only<Value>(
    _ name: String, _ tags: [[String]], _ read: (String) -> Value?
  ) throws(ZapFault) -> Value? {
    let found = tags.named(name)
    guard let tag = found.first else { return nil }
    guard found.count == 1, tag.count > 1, let value = read(tag[1]) else { throw .badTag(name) }
    return value
  }

  private static func relays(_ tags: [[String]]) -> [RelayURL] {
    var relays: [RelayURL] = []
    for address in tags.named("relays").first?.dropFirst().prefix(relayCountMaximum) ?? [] {
      if let relay = RelayURL(reading: address), !relays.contains(relay) { relays.append(relay) }
    }
    return relays
  }

  /// Checks that the amount in the query is that of the request, if the request has one.
  ///
  /// - Throws: `otherAmount`.
  public func check(amountMillisatoshis asked: Int64) throws(ZapFault) {
    guard let amountMillisatoshis, amountMillisatoshis != asked else { return }
    throw .otherAmount(request: amountMillisatoshis, other: asked)
  }

  /// An unsigned request, for the payer to sign and to send to the payee's wallet.
  ///
  /// - Parameters:
  ///   - recipient: the payee.
  ///   - sender: the payer.
  ///   - createdAt: seconds since 1970.
  ///   - amountMillisatoshis: the amount.
  ///   - relays: where the receipt should be published, at least one.
  ///   - lnurl: the payee's lnurl page.
  ///   - target: the zapped event and its kind; for a job, the event that asks for the payment.
  ///   - address: its address, if it has one.
  ///   - comment: for people.
  /// - Throws: `noRelays`, `badAmount`, `tooLong`.
  public static func template(
    for recipient: PublicKey, by sender: PublicKey, createdAt: Int64, amountMillisatoshis: Int64, relays: [RelayURL],
    lnurl: String? = nil, target: (id: EventID, kind: UInt16)? = nil, address: EventAddress? = nil,
    comment: String = ""
  ) throws(ZapFault) -> UnsignedEvent {
    guard !relays.isEmpty else { throw .noRelays }
    guard (1...JobAmount.millisatoshisMaximum).contains(amountMillisatoshis) else { throw .badAmount }
    guard comment.utf8.count <= commentByteCountMaximum else {
      throw .tooLong(byteCount: comment.utf8.count, maximum: commentByteCountMaximum)
    }
    var tags = [["relays"] + relays.prefix(relayCountMaximum).map(\.text), ["amount", "\(amountMillisatoshis)"]]
    if let lnurl { tags.append(["lnurl", lnurl]) }
    tags.append(["p", recipient.description])
    if let target { tags += [["e", target.id.description], ["k", "\(target.kind)"]] }
    if let address { tags.append(["a", address.description]) }
    return UnsignedEvent(
      pubkey: sender, createdAt: createdAt, kind: EventKind.zapRequest, tags: tags, content: comment)
  }
}

/// A receipt for a zap (kind 9735, NIP-57), made by the payee's wallet.
public struct ZapReceipt: Hashable, Sendable {
  /// The event.
  public let event: Event
  /// The invoice that the receipt claims is paid.
  public let invoice: Invoice
  /// The request it was made for; its signature was verified.
  public let request: ZapRequest
  /// The request's JSON, unchanged from the receipt.
  public let requestText: String
  /// The payee (`p`).
  public let recipient: PublicKey
  /// The claimed proof of payment.
  public let preimage: Octets32?

  /// The key that claims the payment.
  public var wallet: PublicKey { event.pubkey }
  /// The paid amount, in millisatoshis: the invoice's amount.
  public var amountMillisatoshis: Int64? { invoice.amountMillisatoshis }

  /// Longest request in a receipt, in bytes of JSON.
  public static let requestByteCountMaximum = 64 << 10

  /// Whether the invoice was made for this request: its description hash is that of the request's JSON. NIP-57 says
  /// that it should be, but receipts exist for which it is not.
  public var isBoundToRequest: Bool { invoice.commits(toDescription: requestText) }

  /// Whether the preimage is that of the invoice's payment; nil without a preimage.
  public var isPreimageRight: Bool? { preimage.map { invoice.isPaid(by: $0) } }

  /// Reads a receipt, its invoice and its request, verifies the request, and checks that receipt and request have the
  /// same recipient and are about the same event. The caller verifies the receipt's own signature.
  public init(_ event: Event) throws(ZapFault) {
    guard event.kind == EventKind.zapReceipt else {
      throw .wrongKind(event.kind, expected: EventKind.zapReceipt)
    }
    guard let text = event.firstValue(of: "bolt11") else { throw .noInvoice }
    do throws(InvoiceFault) { invoice = try Invoice(text) } catch { throw .badInvoice(error) }
    guard let requestText = event.firstValue(of: "description") else { throw .noRequest }
    request = try Self.request(requestText)
    let recipients = event.tags.named("p")
    guard recipients.count == 1, event.firstValue(of: "p").flatMap({ PublicKey($0) }) == request.recipient else {
      throw .otherRecipient
    }
    // Some wallets omit these; if present, they must match.
    if let target = event.firstValue(of: "e").flatMap({ EventID($0) }), target != request.target { throw .otherTarget }
    if let target = event.firstValue(of: "a").flatMap({ EventAddress($0) }), target != request.targetAddress {
      throw .otherTarget
    }
    self.event = event
    self.requestText = requestText
    recipient = request.recipient
    preimage = event.firstValue(of: "preimage").flatMap { Octets32($0.lowercased()) }
  }

  private static func request(_ text: String) throws(ZapFault) -> ZapRequest {
    guard text.utf8.count <= requestByteCountMaximum else {
      throw .tooLong(byteCount: text.utf8.count, maximum: requestByteCountMaximum)
    }
    let event: Event
    do throws(EventFault) {
      event = try Event(json: Array(text.utf8))
      try event.verify()
    } catch {
      throw .badRequest(error)
    }
    return try ZapRequest(event)
  }

  /// Checks that it is the expected receipt (appendix F).
  ///
  /// - Parameters:
  ///   - expected: `nostrPubkey` of the payee's lnurl page: the only key that may sign receipts.
  ///   - lnurl: the payee's; nil: not checked.
  ///   - mustBeBound: whether the invoice must have been made for the request; see ``isBoundToRequest``.
  /// - Throws: `otherWallet`, `otherAmount`, `otherAddress`, `otherDescription`, `wrongPreimage`.
  public func check(wallet expected: PublicKey, lnurl: String? = nil, mustBeBound: Bool = true) throws(ZapFault) {
    guard wallet == expected, request.wallet ?? expected == expected else { throw .otherWallet(wallet) }
    if let asked = request.amountMillisatoshis, asked != amountMillisatoshis {
      throw .otherAmount(request: asked, other: amountMillisatoshis)
    }
    // Bech32 may be in either case.
    if let lnurl, let named = request.lnurl, named.lowercased() != lnurl.lowercased() { throw .otherAddress }
    guard isBoundToRequest || !mustBeBound else { throw .otherDescription }
    guard isPreimageRight != false else { throw .wrongPreimage }
  }
}
