import Clocks
import Contracts
import Cryptography
import JobTracking
import Nostr

/// Facts at random, of few providers and events, so that they meet.
struct FactGenerator {
  var random: SeededGenerator
  let providers = (0..<4).map { PublicKey(SHA256.hash([UInt8($0)])) }
  let requests = (0..<3).map { EventID(SHA256.hash([9, UInt8($0)])) }
  let answers = (0..<40).map { EventID(SHA256.hash([5, UInt8($0)])) }
  let wallets = (0..<2).map { PublicKey(SHA256.hash([3, UInt8($0)])) }
  let zapIDs = (0..<4).map { EventID(SHA256.hash([6, UInt8($0)])) }
  let hashes = (0..<3).map { SHA256.hash([7, UInt8($0)]) }

  mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
  mutating func pick<Value>(_ values: [Value]) -> Value { values[number(values.count)] }

  mutating func order() -> JobOrder? {
    var submit = JobSubmit(kind: 5_050)
    submit.key = "k"
    submit.turns = number(2) == 0 ? .all : .oneByOne
    submit.retries = number(3)
    submit.reach = number(2) == 0 ? .local : .relays
    submit.payment = JobSubmit.Payment(mode: .ask)
    submit.deadlines = PhaseSeconds().said
    submit.providers = providers.prefix(number(4)).map(\.description)
    submit.choice = JobSubmit.Choice(window: Int64(number(2) * 30), agreement: 1 + number(2))
    return JobOrder(id: JobID(1), account: providers[0], submittedAt: 1_000, submit: submit)
  }

  mutating func facts(_ count: Int) -> [JobFact] {
    var at: Int64 = 2_000
    return (0..<count).map { _ in
      at += Int64(1 + number(1_000))
      return JobFact(at: at, what())
    }
  }

  mutating func what() -> JobFact.What {
    switch number(21) {
    case 0, 1: .attempted(number(5), number(2) == 0 ? [] : [pick(providers)])
    case 2, 3:
      .requested(JobRequestFact(attempt: number(5), id: pick(requests), createdAt: Int64(number(5)), json: [1, 2]))
    case 4: .stored(pick(requests))
    case 5: .relayed(pick(requests), confirmed: number(3), of: 2)
    case 6: .unpublished(pick(requests), "no")
    case 7: .undone(number(5), "so")
    case 8: .approved(intent())
    case 9: .paid(pick(providers), paymentHash: pick(hashes), preimage: pick(hashes))
    case 10: .denied(pick(providers), isAutomatic: number(2) == 0)
    case 11: .lapsed(pick(JobPhase.allCases), attempt: number(5), provider: pick(providers))
    case 12:
      number(6) == 0 ? .ended(pick([.failed, .settled, .cancelled]), nil) : .withdrawn(pick(requests))
    case 13: .zapRequested(zapRequest())
    case 14: number(4) == 0 ? .unzapped(pick(answers), "no") : .walletNamed(pick(providers), wallet: pick(wallets))
    case 15, 16: .receipted(receipt())
    case 17: .objected(EventID(SHA256.hash([4, UInt8(number(12))])), pick(ZapReceiptFact.Objection.allCases))
    default: .answered(answer())
    }
  }

  private mutating func intent() -> PaymentIntent {
    PaymentIntent(
      provider: pick(providers),
      way: number(2) == 0 ? .zap(pick(answers)) : .invoice("ln", paymentHash: pick(hashes)), amount: 5,
      isAutomatic: number(2) == 0)
  }

  mutating func zapRequest() -> ZapRequestFact {
    ZapRequestFact(
      provider: pick(providers), target: pick(answers), id: pick(zapIDs), createdAt: Int64(number(5)), amount: 5,
      json: [7, 8])
  }

  mutating func receipt() -> ZapReceiptFact {
    var receipt = ZapReceiptFact(
      event: EventID(SHA256.hash([4, UInt8(number(12))])), wallet: pick(wallets), createdAt: Int64(number(6)))
    receipt.request = number(4) == 0 ? nil : pick(zapIDs)
    receipt.preimage = number(3) == 0 ? pick(hashes) : nil
    receipt.paymentHash = number(2) == 0 ? pick(hashes) : nil
    receipt.objection = number(3) == 0 ? pick(ZapReceiptFact.Objection.allCases) : nil
    return receipt
  }

  mutating func answer() -> JobAnswerFact {
    let isResult = number(3) == 0
    var answer = JobAnswerFact(
      event: pick(answers), request: pick(requests), provider: pick(providers),
      kind: isResult ? 6_050 : 7_000, createdAt: Int64(number(6)))
    if !isResult { answer.status = pick(JobStatus.allCases) }
    answer.content = number(3) == 0 ? nil : pick(["a", "b", ""])
    answer.remark = number(2) == 0 ? nil : "remark"
    answer.isCut = number(9) == 0
    answer.diagnostics = number(3) == 0 ? ["odd": 1 + number(3)] : [:]
    answer.objection = number(6) == 0 ? pick(JobAnswerFact.Objection.allCases) : nil
    answer.isOpened = number(4) == 0
    answer.sealed = !answer.isOpened && number(4) == 0 ? [1, 2, 3] : nil
    if number(3) == 0 {
      var bill = JobBill()
      (bill.amount, bill.payable, bill.paymentHash, bill.expiresAt) = (5, 5, pick(hashes), 99)
      bill.invoice = "ln"
      bill.problem = number(3) == 0 ? "bad" : nil
      answer.bill = bill
    }
    return answer
  }
}
