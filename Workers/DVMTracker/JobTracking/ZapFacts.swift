public import Cryptography
public import Nostr

// Zaps (NIP-57): what a provider is paid by that has shown no invoice, or where somebody likes it better.
//
//   approved(zap of the event that asks) ─▶ zapRequested ─▶ handed to a wallet, which pays ─▶ receipted: paid
//
// The request is never published: who holds it is this machine, whoever pays, and the payee's wallet. The receipt is an
// event that anybody can write, so it is looked at before it is believed. It must hold our request, and an invoice that
// was made for it, of its amount. Then one of two proves that the invoice was paid: its author is the payee's wallet,
// whom the payee's lnurl page names; or it shows the preimage. Who made the invoice knows the preimage from the start,
// but for our request only the payee's side can have made one, and says so to its own cost.

/// A request for a zap that was signed (kind 9734).
public struct ZapRequestFact: Sendable, Hashable {
  /// Who is paid.
  public var provider: PublicKey
  /// The event that is zapped: the one that asks for the payment.
  public var target: EventID
  /// The request's id.
  public var id: EventID
  /// When it says it was made, seconds since 1970.
  public var createdAt: Int64
  /// Millisatoshi.
  public var amount: Int64
  /// The event, JSON: what is handed to the wallet, to the byte.
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

  /// What is signed; nil for what is no request.
  public var request: ZapRequest? {
    // `try?`: it was read when it was signed.
    (try? Event(json: json)).flatMap { try? ZapRequest($0) }
  }
}

/// A receipt that has come (kind 9735), as far as it matters here.
public struct ZapReceiptFact: Sendable, Hashable {
  /// Why a receipt counts for nothing.
  public enum Objection: UInt8, Sendable, Hashable, CaseIterable {
    /// It is none: without an invoice, without a request that is signed, or for somebody else than that.
    case unreadable = 0
    /// The request that it holds is not ours.
    case otherRequest = 1
    /// Its invoice is of another amount.
    case otherAmount = 2
    /// Its invoice was made for something else than our request.
    case otherDescription = 3
    /// Its preimage is not that of its invoice.
    case wrongPreimage = 4
    /// Its invoice is of another network.
    case otherNetwork = 5
    /// Its payment hash is that of a payment for another job, or of another provider.
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
  /// When it says it was made, seconds since 1970.
  public var createdAt: Int64
  /// The request of ours that it holds.
  public var request: EventID?
  /// The preimage, when it is that of the invoice.
  public var preimage: Octets32?
  /// The payment hash of its invoice, where nothing else is wrong with it; nil in ledgers from before that was kept.
  public var paymentHash: Octets32?
  /// Why it counts for nothing.
  public var objection: Objection?

  /// By which payment it may prove something.
  var hash: Octets32? { paymentHash ?? preimage.map { SHA256.hash($0.bytes) } }

  /// A receipt of which nothing is known but that it is there.
  public init(event: EventID, wallet: PublicKey, createdAt: Int64) {
    self.event = event
    self.wallet = wallet
    self.createdAt = createdAt
  }

  /// Reads a receipt.
  ///
  /// - Parameters:
  ///   - event: of kind 9735; its signature was verified.
  ///   - requests: ours, of the job that it seems to be for.
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

  /// Takes back what it would prove.
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
