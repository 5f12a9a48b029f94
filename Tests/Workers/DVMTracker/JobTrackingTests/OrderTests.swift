import Clocks
import Contracts
import Cryptography
import JobTracking
import Nostr
import TestSupport
import Testing

@Suite("The state of a job") struct OrderTests {
  @Test("is the same for the same facts in any order", arguments: seeds(60))
  func anyOrder(seed: UInt64) throws {
    var generator = FactGenerator(random: SeededGenerator(seed: seed))
    for _ in 0..<20 {
      let made = generator.order()
      let order = try #require(made)
      let facts = generator.facts(generator.number(40))
      let picture = JobPicture(order, facts)
      for _ in 0..<5 {
        #expect(JobPicture(order, facts.shuffled(using: &generator.random)) == picture)
        #expect(JobPicture(order, (facts + facts).shuffled(using: &generator.random)) == picture, "each twice")
      }
      #expect(picture.state.isFinal || picture.deadline != nil, "what is open has an end")
    }
  }

  @Test("is the same for the same answers in whatever order they come, as long as it goes on", arguments: seeds(40))
  func anyArrival(seed: UInt64) throws {
    var generator = FactGenerator(random: SeededGenerator(seed: seed))
    for _ in 0..<20 {
      let made = generator.order()
      let order = try #require(made)
      let request = generator.requests[0]
      let asked: [JobFact.What] = [
        .attempted(0, []), .requested(JobRequestFact(attempt: 0, id: request, createdAt: 2, json: [])),
        .stored(request), .relayed(request, confirmed: 1, of: 1),
      ]
      var seen: Set<EventID> = []
      let zaps: [JobFact.What] = [
        .zapRequested(generator.zapRequest()), .walletNamed(generator.providers[0], wallet: generator.wallets[0]),
      ]
      let answers = (0..<12).map { _ in generator.answer() }.filter { seen.insert($0.event).inserted }
      let receipts = (0..<4).map { _ in generator.receipt() }.filter { seen.insert($0.event).inserted }
      let said: [JobFact.What] = answers.map { .answered($0) } + receipts.map { .receipted($0) }
      func picture(_ said: [JobFact.What]) -> JobPicture {
        let all = asked + zaps + said
        return JobPicture(order, all.enumerated().map { JobFact(at: 2_000 + Int64($0.offset), $0.element) })
      }
      let first = picture(said)
      for _ in 0..<5 {
        let other = picture(said.shuffled(using: &generator.random))
        #expect(other.state == first.state && other.taken == first.taken && other.diagnostics == first.diagnostics)
        for (provider, pair) in first.pairs {
          let same = other.pairs[provider]
          #expect(same?.state == pair.state && same?.result == pair.result && same?.bill == pair.bill)
          #expect(same?.receipts == pair.receipts)
          #expect(same?.payment == pair.payment && same?.message == pair.message && same?.partial == pair.partial)
        }
      }
    }
  }

  @Test("is the same whether the process dies between any two steps or not", arguments: seeds(10))
  func anyDeath(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (first, second) = (Maker(), Maker())
    func life(dyingAt step: Int?) throws -> JobPicture {
      let bench = Bench()
      let job = try bench.text([first, second], oneByOne: true)
      var steps: [() throws -> Void] = []
      let bill = try TestInvoice(5_000, at: bench.seconds)
      steps.append { bench.receive(try first.feedback(.error, to: bench.request(job), at: bench.seconds)) }
      steps.append { bench.pass(seconds: 5) }
      steps.append {
        bench.receive(
          try second.feedback(.paymentRequired, to: bench.request(job, 1), at: bench.seconds, amount: bill.amount))
      }
      steps.append { bench.perform(try bench.book.approve(job, provider: nil, preimage: bill.preimage, at: bench.now)) }
      steps.append { bench.receive(try second.result("noon", to: bench.request(job, 1), at: bench.seconds + 1)) }
      for (index, body) in steps.enumerated() {
        if index == step { bench.die() }
        try body()
      }
      return bench.picture(job)
    }
    let whole = try life(dyingAt: nil)
    #expect(whole.state == .settled && whole.pairs[second.publicKey]?.payment == .paid)
    let step = Int.random(in: 0..<5, using: &random)
    let broken = try life(dyingAt: step)
    #expect(broken.state == whole.state && broken.taken?.content == whole.taken?.content)
    #expect(broken.attempts.count == whole.attempts.count && broken.pairs.count == whole.pairs.count)
  }
}
