internal import Contracts
internal import Frames
internal import Wording

// A provider's payment, for people: what to decide, how to pay, and how to prove the payment.

extension JobText {
  static func payment(_ provider: JobProviderState, of job: Job, _ style: Style) -> [String] {
    var lines: [String] = []
    let isOpen = !job.state.isFinal || job.state == .settled
    let payable = provider.payment == .approved && isOpen ? payable(provider, of: job, style) : []
    // The lines of a payable demand contain the amount.
    if let amount = provider.amount, payable.isEmpty {
      lines.append("    \(demand(Amount.satoshis(amount), provider.payment, isOpen: isOpen))")
    }
    if let problem = provider.invoiceProblem {
      lines.append("    " + style.paint("not to be paid: \(VisibleText.make(problem))", .bad))
    }
    if provider.payment == .asked, !job.state.isFinal { lines += question(provider, of: job, style) }
    return lines + payable
  }

  /// What a provider demands, and what became of that.
  private static func demand(
    _ amount: String, _ payment: JobProviderState.PaymentState?, isOpen: Bool
  ) -> String {
    switch payment {
    case .asked, nil: isOpen ? "wants \(amount)" : "wanted \(amount)"
    case .approved: isOpen ? "wants \(amount), approved" : "\(amount) was approved, and is no longer to be paid"
    case .paid: "was paid \(amount)"
    case .denied: "wanted \(amount), denied"
    }
  }

  /// How to pay an approved demand: by the invoice, or by the request for a zap.
  static func payable(_ provider: JobProviderState, of job: Job, _ style: Style) -> [String] {
    if let zap = provider.zap { return self.lines(zap, by: provider, of: job, style) }
    guard let invoice = provider.invoice else { return [] }
    let amount = provider.amount.map { " \(Amount.satoshis($0))" } ?? ""
    return [
      "    pay\(amount): \(VisibleText.make(invoice))",
      style.paint("    then: roost job approve \(job.id) --preimage <preimage>", .dim),
    ]
  }

  private static func question(_ provider: JobProviderState, of job: Job, _ style: Style) -> [String] {
    // If the invoice has a fault, an approval can only fail.
    guard provider.amount != nil, provider.invoiceProblem == nil else { return [] }
    var lines: [String] = []
    if provider.invoice == nil { lines.append("    it shows no invoice: it is paid by a zap, once that is approved") }
    let whom = whom(provider, of: job)
    return lines + [style.paint("    roost job approve \(whom)   or   roost job deny \(whom)", .dim)]
  }

  /// The job, and its provider if several demand a payment: then one must be named. A preimage itself shows whose it
  /// is.
  private static func whom(_ provider: JobProviderState, of job: Job) -> String {
    let isAlone = job.providers.count { $0.payment == .asked || $0.payment == .approved } == 1
    return isAlone ? job.id : "\(job.id) --provider \(VisibleText.make(provider.provider))"
  }

  private static func lines(
    _ zap: JobZapState, by provider: JobProviderState, of job: Job, _ style: Style
  ) -> [String] {
    guard let request = zap.request else { return [style.paint("    the request for its zap is not signed yet", .dim)] }
    let place =
      (zap.address ?? zap.lnurl).map { "to \(VisibleText.make($0))" }
      ?? "where it is paid; its profile says no lightning address"
    var lines = ["    zap \(Amount.satoshis(zap.amount)): send this request \(place)"]
    lines.append("    \(VisibleText.make(request))")
    for receipt in zap.receipts where receipt.proof == nil {
      lines.append("    a receipt is there, by \(name(receipt.author)), and it is not known whether that is its wallet")
      let command = "roost job approve \(whom(provider, of: job)) --wallet \(VisibleText.make(receipt.author))"
      lines.append(style.paint("    if it is: \(command)", .dim))
    }
    let command = "roost job approve \(job.id) --invoice <invoice> --preimage <preimage>"
    return lines + [style.paint("    its receipt is waited for; or: \(command)", .dim)]
  }
}
