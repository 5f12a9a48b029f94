import Contracts
import Cryptography
import JobTracking
import Nostr
import Testing

@Suite("A place in a job that is open to all") struct RoomTests {
  private func bench(_ places: Int) -> Bench {
    var limits = TrackingLimits()
    limits.providerMaximum = places
    return Bench(limits: limits)
  }

  /// An open job that one result does not settle.
  private func open(_ bench: Bench) throws -> JobID {
    var wanted = JobSubmit(kind: 5_999)
    wanted.choice = JobSubmit.Choice(agreement: 2)
    return try bench.submit(wanted)
  }

  @Test(
    "is there for a result, however many have only said something, in one batch or in many", arguments: [true, false])
  func result(isBurst: Bool) throws {
    let bench = Bench()
    let job = try bench.text()
    let request = try bench.request(job)
    var events: [Event] = []
    for _ in 0..<70 { events.append(try Maker().feedback(.processing, to: request, at: bench.seconds - 100)) }
    let honest = Maker()
    events.append(try honest.result("noon", to: request, at: bench.seconds))
    if isBurst { bench.receive(events) } else { for event in events { bench.receive(event) } }
    #expect(bench.state(job) == .settled && bench.picture(job).taken?.provider == honest.publicKey)
    #expect(bench.picture(job).pairs.count == bench.book.limits.providerMaximum)
  }

  @Test("is there for a result while what it displaces is on its way to the disk")
  func onTheWay() throws {
    let bench = bench(2)
    let job = try bench.text()
    let request = try bench.request(job)
    bench.isPrompt = false
    let count = bench.batches.count
    for _ in 0..<4 { bench.receive(try Maker().feedback(.processing, to: request, at: bench.seconds)) }
    bench.receive(try Maker().result("noon", to: request, at: bench.seconds))
    var next = count
    while next < bench.batches.count {
      bench.write(bench.batches[next])
      next += 1
    }
    #expect(bench.state(job) == .settled && bench.picture(job).pairs.count == 2)
    let order = try #require(bench.orders.first { $0.id == job })
    #expect(JobPicture(order, bench.facts[job] ?? []) == bench.picture(job))
  }

  @Test("is one place, however often the disk fails while others take it")
  func fullDisk() throws {
    let bench = bench(2)
    let job = try open(bench)
    let request = try bench.request(job)
    bench.isPrompt = false
    bench.batches = []
    bench.isDiskGood = false
    for number in 0..<6 {
      bench.receive(try Maker().result("\(number)", to: request, at: bench.seconds + 10 - 2 * Int64(number)))
      bench.write(try #require(bench.batches.last))
      bench.pass(seconds: 2)
    }
    bench.isDiskGood = true
    var next = bench.batches.count - 1
    while next < bench.batches.count {
      bench.write(bench.batches[next])
      next += 1
    }
    #expect(bench.picture(job).pairs.count == 2 && bench.book.isPending(job) == false)
  }

  @Test("is kept by who has said most, and then first, whatever order it came in")
  func anyOrder() throws {
    let makers = (0..<9).map { _ in Maker() }
    let bills = try makers.map { _ in try TestInvoice(5_000, at: 1_800_000_000) }
    var kept: Set<Set<PublicKey>> = []
    for _ in 0..<8 {
      let bench = bench(4)
      let job = try open(bench)
      let request = try bench.request(job)
      var events: [Event] = []
      for (index, maker) in makers.enumerated() {
        let time = bench.seconds + Int64(index % 3)
        switch index {
        case 0, 1: events.append(try maker.result("\(index)", to: request, at: time))
        case 2, 3, 4:
          events.append(try maker.feedback(.paymentRequired, to: request, at: time, amount: bills[index].amount))
        default: events.append(try maker.feedback(.processing, to: request, at: time))
        }
      }
      for event in events.shuffled() { bench.receive(event) }
      kept.insert(Set(bench.picture(job).pairs.keys))
    }
    // Of the bills those dated first and second: the third and fourth of all, by what their dates are.
    #expect(kept == [Set([0, 1, 3, 4].map { makers[$0].publicKey })])
  }

  @Test("is not lost by who may be paid, nor by who was asked")
  func safe() throws {
    let bench = bench(2)
    let job = try open(bench)
    let request = try bench.request(job)
    let approved = Maker()
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(try approved.feedback(.paymentRequired, to: request, at: bench.seconds, amount: bill.amount))
    bench.perform(try bench.book.approve(job, provider: nil, preimage: nil, at: bench.now))
    for number in 0..<4 { bench.receive(try Maker().result("\(number)", to: request, at: bench.seconds)) }
    #expect(try bench.pair(job, approved).bill?.payable == 5_000 && bench.picture(job).pairs.count == 2)
    let named = (0..<3).map { _ in Maker() }
    let other = try bench.text(named)
    for maker in named { bench.receive(try maker.feedback(.processing, to: bench.request(other), at: bench.seconds)) }
    #expect(bench.picture(other).pairs.values.allSatisfy { $0.state == .processing })
  }

  @Test("has room for a first bill, whatever all the others have said")
  func bill() throws {
    var limits = TrackingLimits()
    limits.answerByteCountMaximum = 100
    let bench = Bench(limits: limits)
    let job = try bench.text()
    let request = try bench.request(job)
    let words = String(repeating: "x", count: 90)
    bench.receive(try Maker().feedback(.partial, to: request, at: bench.seconds, content: words))
    let maker = Maker()
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(try maker.feedback(.paymentRequired, to: request, at: bench.seconds, amount: bill.amount))
    #expect(try bench.pair(job, maker).bill?.payable == 5_000)
  }
}
