public import Cryptography
public import Nostr

// Zaps (NIP-57): how a provider is paid that has shown no invoice, or any provider if the caller prefers that.
//
//   approved(zap of the event that asks) ─▶ zapRequested ─▶ handed to a wallet, which pays ─▶ receipted: paid
//
// The request is never published: only this machine, the payer and the payee's wallet have it. The receipt is an event
// that anyone can write, so it is checked before it is believed. It must contain our request, and an invoice that was
// made for that request and has its amount. Then one of two things proves that the invoice was paid: its author is the
// payee's wallet, which the payee's lnurl page names; or it shows the preimage. The maker of the invoice knows the
// preimage from the start. But only the payee's side can have made one for our request, and a false receipt costs only
// that side.

/// A signed request for a zap (kind 9734).
public struct ZapRequestFact: Sendable, Hashable {
  /// The provider that is paid.
  public var provider: PublicKey
  /// The zapped event: the one that asks for the payment.
  public var target: EventID
  /// The request's id.
  public var id: EventID
  /// Its date, seconds since 1970.
  public var createdAt: Int64
  /// The amount in millisatoshi.
  public var amount: Int64
  /// The event, JSON: the exact bytes for the wallet.
  public var json: [UInt8]

  /// A request.
  public init(
    provider: PublicKey, target: EventID, id: EventID, createdAt: Int64, amount: Int64, json: [UInt8]
  ) {
    self.provider = provider
    self.target = target
    self.id = id
    self.createdAt = createdAt
    self.amount = amount
    self.json = json
  }

  /// The signed request, parsed; nil if it cannot be.
  public var request: ZapRequest? {
    // `try?`: it could be read when it was signed.
    (try? Event(json: json)).flatMap { try? ZapRequest($0) }
  }
}

/// The relevant part of a receipt (kind 9735).
public struct ZapReceiptFact: Sendable, Hashable {
  /// Why a receipt does not count.
  public enum Objection: UInt8, Sendable, Hashable, CaseIterable {
    /// It is not a receipt: it has no invoice or no signed request, or names another payee than its request.
    case unreadable = 0
    /// The request that it contains is not ours.
    case otherRequest = 1
    /// Its invoice has another amount.
    case otherAmount = 2
    /// Its invoice was not made for our request.
    case otherDescription = 3
    /// Its preimage is not that of its invoice.
    case wrongPreimage = 4
    /// Its invoice is for another network.
    case otherNetwork = 5
    /// Its payment hash belongs to a payment for another job, or to another provider.
    case otherPayment = 6

    /// The name under which it is counted.
    public var word: String {
      switch self {
      case .unreadable: "receipt-cannot-be-read"
      case .otherRequest: "receipt-of-another-request"
      case .otherAmount: "receipt-of-another-amount"
      case .otherDescription: "receipt-of-another-invoice"
      case .wrongPreimage: "receipt-with-wrong-preimage"
      case .otherNetwork: "receipt-of-another-network"
      case .otherPayment: "receipt-of-another-payment"
      }
    }
  }

  /// The event's id.
  public var event: EventID
  /// Its author, which should be the payee's wallet.
  public var wallet: PublicKey
  /// Its date, seconds since 1970.
  public var createdAt: Int64
  /// The request of ours that it contains.
  public var request: EventID?
  /// The preimage, if it is that of the invoice.
  public var preimage: Octets32?
  /// The payment hash of its invoice, if nothing else is wrong with it; nil in ledgers from before it was kept.
  public var paymentHash: Octets32?
  /// Why it does not count; nil if it does.
  public var objection: Objection?

  /// The hash of the payment that it may prove.
  var hash: Octets32? { paymentHash ?? preimage.map { SHA256.hash($0.bytes) } }

  /// A receipt of which nothing else is known.
  public init(event: EventID, wallet: PublicKey, createdAt: Int64) {
    self.event = event
    self.wallet = wallet
    self.createdAt = createdAt
  }

  /// Reads a receipt.
  ///
  /// - Parameters:
  ///   - event: of kind 9735; its signature was verified.
  ///   - requests: our requests of the job that it seems to be for.
  ///   - network: where its invoice must be payable.
  public init(_ event: Event, to requests: [ZapRequestFact], network: Invoice.Network = .bitcoin) {
    self.init(event: event.id, wallet: event.pubkey, createdAt: event.createdAt)
    let receipt: ZapReceipt
    do throws(ZapFault) { receipt = try ZapReceipt(event) } catch {
      objection = .unreadable
      return
    }
    guard let ours = requests.first(where: { $0.id == receipt.request.event.id }) else {
      objection = .otherRequest
      return
    }
    request = ours.id
    objection = Self.objection(receipt, ours, network)
    if objection == nil { (preimage, paymentHash) = (receipt.preimage, receipt.invoice.paymentHash) }
  }

  /// Withdraws what the receipt would prove.
  mutating func object(_ objection: Objection) { (preimage, self.objection) = (nil, objection) }

  private static func objection(
    _ receipt: ZapReceipt, _ ours: ZapRequestFact, _ network: Invoice.Network
  ) -> Objection? {
    if receipt.invoice.network != network { return .otherNetwork }
    if receipt.amountMillisatoshis != ours.amount { return .otherAmount }
    if !receipt.isBoundToRequest { return .otherDescription }
    return receipt.isPreimageRight == false ? .wrongPreimage : nil
  }
}
