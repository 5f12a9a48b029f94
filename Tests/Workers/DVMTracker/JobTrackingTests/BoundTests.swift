import Contracts
import Cryptography
import JobTracking
import Nostr
import Testing

@Suite("What a job keeps") struct BoundTests {
  let maker = Maker()

  private func bench(_ change: (inout TrackingLimits) -> Void) -> Bench {
    var limits = TrackingLimits()
    change(&limits)
    return Bench(limits: limits)
  }

  @Test("of one provider's feedback is the newest, and what asks for money; a result always has its place")
  func feedback() throws {
    let bench = bench { $0.feedbackMaximum = 4 }
    let job = try bench.text([maker])
    let request = try bench.request(job)
    let bill = try TestInvoice(5_000, at: bench.seconds)
    bench.receive(try maker.feedback(.paymentRequired, to: request, at: bench.seconds, amount: bill.amount))
    for time in 1...20 {
      bench.receive(
        try maker.feedback(.partial, to: request, at: bench.seconds + Int64(time), content: "part \(time)"))
    }
    let kept = (bench.facts[job] ?? []).count { if case .answered = $0.what { true } else { false } }
    let pair = try bench.pair(job, maker)
    #expect(kept == 4 && pair.partial == "part 20" && pair.bill?.payable == 5_000)
    bench.receive(try maker.result("noon", to: request, at: bench.seconds + 30))
    #expect(bench.state(job) == .settled)
  }

  @Test("of providers is bounded, and those that were named have their place")
  func providers() throws {
    let bench = bench { $0.providerMaximum = 3 }
    let job = try bench.text()
    let request = try bench.request(job)
    for _ in 0..<10 { bench.receive(try Maker().feedback(.processing, to: request, at: bench.seconds)) }
    #expect(bench.picture(job).pairs.count == 3)
    #expect(bench.book.told(job, at: bench.now)?.diagnostics["not-kept"] == 7)
  }

  @Test("of results is bounded, and a long one is cut and told as that")
  func results() throws {
    let bench = bench {
      $0.resultMaximum = 2
      $0.resultByteCountMaximum = 10
    }
    var wanted = JobSubmit(kind: 5_999)
    wanted.providers = [maker.publicKey, Maker().publicKey].map(\.description)
    wanted.choice = JobSubmit.Choice(agreement: 2)
    let job = try bench.submit(wanted)
    for time in 0..<5 {
      bench.receive(try maker.result("äöüäöüäöü\(time)", to: bench.request(job), at: bench.seconds + Int64(time)))
    }
    let pair = try bench.pair(job, maker)
    #expect(pair.resultCount == 2 && pair.result?.content == "äöüäö" && pair.result?.isCut == true)
  }

  @Test("of all that is said has a bound in bytes, within which nobody who was not asked takes room")
  func bytes() throws {
    let second = Maker()
    let bench = bench { $0.answerByteCountMaximum = 100 }
    let job = try bench.text([maker, second])
    let request = try bench.request(job)
    for _ in 0..<4 {
      bench.receive(
        try Maker().feedback(.partial, to: request, at: bench.seconds, content: String(repeating: "x", count: 60)))
    }
    for time in 1...4 {
      let part = "\(time)" + String(repeating: "y", count: 39)
      bench.receive(try maker.feedback(.partial, to: request, at: bench.seconds + Int64(time), content: part))
    }
    #expect(try bench.pair(job, maker).partial?.first == "2")
    #expect(bench.picture(job).diagnostics[JobAnswerFact.Objection.stranger.word] == 4)
    bench.receive(try second.result(String(repeating: "z", count: 90), to: request, at: bench.seconds))
    #expect(bench.state(job) == .settled, "a first result always has its place")
  }

  @Test("of late answers is bounded")
  func late() throws {
    let bench = bench { $0.lateMaximum = 3 }
    let job = try bench.text([maker])
    let request = try bench.request(job)
    bench.perform(bench.book.cancelled(job, at: bench.now))
    for time in 0..<9 { bench.receive(try maker.result("\(time)", to: request, at: bench.seconds)) }
    #expect(bench.picture(job).diagnostics[JobPicture.lateWord] == 3)
  }

  @Test("of an answer that comes twice is one")
  func twice() throws {
    let bench = Bench()
    let job = try bench.text([maker])
    let event = try maker.feedback(.processing, to: bench.request(job), at: bench.seconds)
    bench.isPrompt = false
    bench.receive(event, event)
    bench.receive(event)
    bench.isPrompt = true
    bench.write(try #require(bench.batches.last))
    bench.receive(event)
    #expect((bench.facts[job] ?? []).count { if case .answered = $0.what { true } else { false } } == 1)
  }

  @Test("of what is waited for on the network is in questions of a bounded size, by kind and relays")
  func interests() throws {
    let bench = Bench()
    for number in 0..<(JobTable.interestMaximum + 1) {
      var wanted = JobSubmit(kind: 5_050)
      wanted.inputs = [JobInputArgument(data: "what is \(number)?", type: "text")]
      wanted.providers = [maker.publicKey.description]
      _ = try bench.submit(wanted)
    }
    var wanted = JobSubmit(kind: 5_001)
    wanted.relays = ["wss://relay.example"]
    _ = try bench.submit(wanted)
    wanted.reach = .local
    _ = try bench.submit(wanted)
    let interests = bench.book.interests
    #expect(interests.map(\.events.count).sorted() == [1, 1, JobTable.interestMaximum])
    #expect(interests.first { $0.kinds.contains(6_001) }?.relays == ["wss://relay.example"])
  }

  @Test("of a provider counts an end once, however often it could not be written down")
  func history() throws {
    let bench = Bench()
    let job = try bench.text([maker])
    bench.isPrompt = false
    bench.receive(try maker.result("noon", to: bench.request(job), at: bench.seconds))
    bench.write(try #require(bench.batches.last))
    bench.isDiskGood = false
    bench.write(try #require(bench.batches.last))
    #expect(bench.book.histories.isEmpty)
    (bench.isDiskGood, bench.isPrompt) = (true, true)
    bench.pass(seconds: 5)
    #expect(bench.state(job) == .settled && bench.book.histories[maker.publicKey]?.answered == 1)
  }

  @Test("is where the store was looked through, and of a new store that is nowhere")
  func cursor() {
    let bench = Bench()
    bench.perform(bench.book.received([], cursor: 5_000, at: bench.now))
    #expect(bench.cursor == 5_000)
    bench.die()
    bench.perform(bench.book.storeBegan(at: bench.now))
    #expect(bench.cursor == 0)
  }
}
