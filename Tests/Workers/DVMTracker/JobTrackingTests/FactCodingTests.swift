import Clocks
import Cryptography
@testable import JobLedger
import JobTracking
import Nostr
import TestSupport
import Testing

@Suite("A fact as bytes") struct FactCodingTests {
  @Test("is read as it was written, and nothing that is cut or longer", arguments: seeds(20))
  func coding(seed: UInt64) throws {
    var generator = FactGenerator(random: SeededGenerator(seed: seed))
    for _ in 0..<200 {
      let what = generator.what()
      let bytes = what.bytes
      #expect(JobFact.What(bytes: bytes) == what)
      #expect(JobFact.What(bytes: bytes + [0]) == nil)
      for end in 0..<min(bytes.count, 300) { #expect(JobFact.What(bytes: Array(bytes.prefix(end))) == nil) }
      // Any bytes are read or refused.
      var damaged = bytes
      damaged[generator.number(damaged.count)] = UInt8(generator.number(256))
      _ = JobFact.What(bytes: damaged)
    }
  }

  @Test("is read as it was written before there were zaps")
  func earlier() throws {
    let (provider, hash) = (SHA256.hash([1]), SHA256.hash([2]))
    // The code of an approval, the provider, the hash, 5000, "lnbc", and no rule.
    let bytes = [9] + provider.bytes + hash.bytes + [0x90, 0x4E, 0x08] + Array("lnbc".utf8) + [0]
    let intent = PaymentIntent(
      provider: PublicKey(provider), way: .invoice("lnbc", paymentHash: hash), amount: 5_000, isAutomatic: false)
    #expect(JobFact.What(bytes: bytes) == .approved(intent) && JobFact.What.approved(intent).bytes == bytes)
  }

  @Test("of a bill without an invoice asks for a zap, also one that was written when that could not be paid")
  func earlierBill() throws {
    var bill = JobBill()
    (bill.amount, bill.problem) = (5_000, "there is no invoice")
    var answer = JobAnswerFact(
      event: EventID(SHA256.hash([1])), request: EventID(SHA256.hash([2])), provider: PublicKey(SHA256.hash([3])),
      kind: 7_000, createdAt: 1)
    answer.bill = bill
    let read = try #require(JobFact.What(bytes: JobFact.What.answered(answer).bytes))
    guard case .answered(let known) = read else {
      Issue.record("it is \(read)")
      return
    }
    #expect(known.bill?.isForZap == true && known.bill == JobBill(JobAmount(millisatoshis: 5_000)))
  }
}
