import Contracts
import Testing

@testable import RoostOutput

@Suite("Jobs, as people see them")
struct JobTextTests {
  private static let key = String(repeating: "1", count: 64)

  private func lines(_ change: (inout JobProviderState) -> Void) -> [String] {
    var provider = JobProviderState(provider: Self.key, state: .paymentRequired)
    (provider.amount, provider.payment) = (5_500, .asked)
    change(&provider)
    let job = Job(
      id: "0123456789abcdef", key: "mine", account: Self.key, kind: 5_050, state: .paymentRequired, submittedAt: 0,
      providers: [provider])
    return JobText.payment(provider, of: job, .plain)
  }

  @Test("Whoever shows no invoice is paid by a zap, once that is approved")
  func asked() {
    #expect(
      lines { _ in } == [
        "    wants 5.5 sat, asked", "    it shows no invoice: it is paid by a zap, once that is approved",
        "    roost job approve 0123456789abcdef   or   roost job deny 0123456789abcdef",
      ])
    #expect(lines { $0.invoiceProblem = "so" } == ["    wants 5.5 sat, asked", "    not to be paid: so"])
    #expect(lines { $0.invoice = "lnbc1" }.count == 2)
    #expect(lines { ($0.invoice, $0.invoiceProblem) = ("lnbc1", "above the bid") }.count == 2, "it is not proposed")
  }

  @Test("An approved zap is shown with where its request goes, and what its receipts are worth")
  func approved() {
    var zap = JobZapState(target: Self.key, amount: 5_500)
    let unsigned = lines { ($0.payment, $0.zap) = (.approved, zap) }
    #expect(unsigned.last == "    the request for its zap is not signed yet")
    zap.request = #"{"kind":9734}"#
    (zap.lnurl, zap.address) = ("lnurl1", "alice@example.com")
    let signed = lines { ($0.payment, $0.zap) = (.approved, zap) }
    #expect(
      signed.dropFirst() == [
        "    zap 5.5 sat: send this request to alice@example.com", "    {\"kind\":9734}",
        "    its receipt is waited for; or: roost job approve 0123456789abcdef --invoice <invoice> --preimage <preimage>",
      ])
    (zap.lnurl, zap.address) = (nil, nil)
    zap.receipts = [JobReceiptState(event: Self.key, author: Self.key)]
    let doubted = lines { ($0.payment, $0.zap) = (.approved, zap) }
    #expect(doubted.contains { $0.contains("its profile says no lightning address") })
    #expect(doubted.contains { $0.contains("if it is: roost job approve 0123456789abcdef --wallet \(Self.key)") })
    #expect(lines { ($0.payment, $0.zap) = (.paid, zap) } == ["    wants 5.5 sat, paid"])
  }

  private func job(_ state: Job.State, _ change: (inout Job) -> Void = { _ in }) -> Job {
    var job = Job(
      id: "0123456789abcdef", key: "mine", account: Self.key, kind: 5_050, state: state, submittedAt: 0)
    change(&job)
    return job
  }

  @Test("Who watches hears why nobody works on it, that it was approved and by what to pay, and that it is paid")
  func news() {
    var news = JobNews()
    let locked = job(.drafted) { $0.reason = "its account alice is locked: roost key unlock alice" }
    #expect(news.lines(locked, .plain) == ["drafted: its account alice is locked: roost key unlock alice"])
    #expect(news.lines(locked, .plain).isEmpty)
    var provider = JobProviderState(provider: Self.key, state: .paymentRequired)
    (provider.amount, provider.payment, provider.invoice) = (5_000, .asked, "lnbc1")
    #expect(news.lines(job(.paymentRequired) { $0.providers = [provider] }, .plain).count == 1)
    provider.payment = .approved
    let approved = news.lines(job(.paymentRequired) { $0.providers = [provider] }, .plain)
    #expect(approved.first?.hasSuffix("payment-required, wants 5 sat, approved") == true)
    #expect(approved.contains("    pay: lnbc1"))
    provider.payment = .paid
    let paid = news.lines(job(.paymentRequired) { $0.providers = [provider] }, .plain)
    #expect(paid.count == 1 && paid.first?.hasSuffix("wants 5 sat, paid") == true)
  }

  @Test("How long a job waits is not said before its first request: only the end of all of it is known")
  func drafted() {
    let fresh = job(.drafted) { $0.nextDeadlineAt = 604_800 }
    #expect(!JobText.lines(fresh, now: 0, .plain).contains { $0.contains("waits") })
    let published = job(.published) { $0.nextDeadlineAt = 60 }
    #expect(JobText.lines(published, now: 0, .plain).contains { $0.contains("waits 1m more at most") })
  }

  @Test("A reason of several lines is one line of the table")
  func table() {
    let odd = job(.failed) { $0.reason = "one\ntwo" }
    #expect(JobText.lines([odd], now: 0, .plain).count == 2)
  }

  @Test("An invoice is shown when it is approved")
  func invoice() {
    #expect(lines { ($0.payment, $0.invoice) = (.approved, "lnbc1") }.contains("    pay: lnbc1"))
  }
}
