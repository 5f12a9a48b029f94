import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("A job") struct LifeTests {
  let bench = Bench()
  let maker = Maker()

  @Test("goes from drafted over published and processing to settled, and is then done with")
  func settled() throws {
    bench.isPrompt = false
    let job = try bench.text([maker])
    #expect(!bench.book.isCommitted(job) && bench.tasks.isEmpty, "nothing follows from what is not on the disk")
    bench.write(bench.batches[0])
    #expect(bench.book.isCommitted(job) && bench.state(job) == .drafted)
    bench.isPrompt = true
    bench.write(try #require(bench.batches.last))
    #expect(bench.state(job) == .published)
    let request = try bench.request(job)
    #expect(request.terms.providers == [maker.publicKey] && request.customer == bench.customer.publicKey)
    bench.receive(try maker.feedback(.processing, to: request, at: bench.seconds))
    #expect(bench.state(job) == .processing)
    bench.receive(try maker.feedback(.partial, to: request, at: bench.seconds, content: "it is"))
    #expect(try bench.pair(job, maker).partial == "it is")
    bench.receive(try maker.result("noon", to: request, at: bench.seconds + 1))
    let picture = bench.picture(job)
    #expect(picture.state == .settled && picture.taken?.content == "noon" && picture.endedAt != nil)
    #expect(bench.closed.contains(job) && bench.book.count == 0)
  }

  @Test("is one job for one key, also while it is on its way to the disk")
  func sameKey() throws {
    bench.isPrompt = false
    let first = try bench.text([maker], key: "mine")
    let second = try bench.text([maker], key: "mine")
    #expect(first == second && bench.batches.count == 1)
    bench.isPrompt = true
    bench.write(bench.batches[0])
    #expect(try bench.text([maker], key: "mine") == first)
    #expect(bench.picture(first).requests.count == 1)
  }

  @Test("is never asked for by the request of another, though it be of the same words in the same second")
  func sameWords() throws {
    let (first, second) = (try bench.text([maker]), try bench.text([maker]))
    #expect(try bench.request(first).id != bench.request(second).id)
    bench.isPrompt = false
    let third = try bench.text([maker])
    for _ in 0..<2 { bench.write(try #require(bench.batches.last)) }
    let copy = try bench.request(first).event
    bench.perform(bench.book.made(third, attempt: 0, event: copy, at: bench.now))
    #expect(bench.picture(third).requests.isEmpty && bench.book.job(named: copy.id.description) == first)
  }

  @Test("that could not be written down is none, and its key is free")
  func notWritten() throws {
    bench.isDiskGood = false
    let job = try bench.text([maker], key: "mine")
    #expect(bench.book.order(job) == nil && bench.book.job(named: "mine") == nil && bench.tasks.isEmpty)
    bench.isDiskGood = true
    let again = try bench.text([maker], key: "mine")
    #expect(bench.state(again) == .published)
  }

  @Test("keeps what it has learnt while the disk is full, and writes it when there is room")
  func fullDisk() throws {
    let job = try bench.text([maker])
    let request = try bench.request(job)
    bench.isDiskGood = false
    bench.receive(try maker.result("noon", to: request, at: bench.seconds))
    #expect(bench.state(job) == .published && bench.cursor == 0, "what is not on the disk does not count")
    bench.isDiskGood = true
    bench.pass(seconds: 10)
    #expect(bench.state(job) == .settled && bench.cursor == 1)
  }

  @Test("asks the next provider when one has failed, and ends with a reason when there is none")
  func nextProvider() throws {
    let (second, third) = (Maker(), Maker())
    let job = try bench.text([maker, second, third], oneByOne: true)
    bench.receive(try maker.feedback(.error, to: bench.request(job), at: bench.seconds, remark: "no"))
    #expect(bench.picture(job).attempts.count == 2)
    #expect(try bench.request(job, 1).terms.providers == [second.publicKey])
    bench.pass(seconds: 121)
    #expect(try bench.pair(job, second).state == .silent)
    bench.receive(try third.feedback(.error, to: bench.request(job, 2), at: bench.seconds, remark: "neither"))
    #expect(bench.state(job) == .failed && bench.picture(job).reason?.contains("cannot do it") == true)
  }

  @Test("takes the result of a provider that was given up, as long as it goes on")
  func lateProvider() throws {
    let second = Maker()
    let job = try bench.text([maker, second], oneByOne: true)
    bench.pass(seconds: 121)
    #expect(try bench.pair(job, maker).state == .silent && bench.picture(job).attempts.count == 2)
    bench.receive(try maker.result("noon", to: bench.request(job), at: bench.seconds))
    #expect(bench.state(job) == .settled && bench.picture(job).taken?.provider == maker.publicKey)
  }

  @Test("of several providers takes the result dated first, and not before its request; of one the newest")
  func race() throws {
    let (first, second) = (Maker(), Maker())
    var wanted = JobSubmit(kind: 5_999)
    wanted.providers = [first, second].map(\.publicKey.description)
    wanted.choice = JobSubmit.Choice(agreement: 2)
    let job = try bench.submit(wanted)
    let request = try bench.request(job)
    bench.receive(try first.result("a", to: request, at: bench.seconds + 5))
    #expect(bench.state(job) == .processing)
    bench.receive(try first.result(" b\n", to: request, at: bench.seconds + 9))
    bench.receive(try second.result("b", to: request, at: 5))
    #expect(bench.state(job) == .settled && bench.picture(job).taken?.provider == second.publicKey)
    #expect(try bench.pair(job, first).resultCount == 2)
  }

  @Test("for which providers do not agree ends so, at the latest when the time for it is over")
  func disagreement() throws {
    let (first, second) = (Maker(), Maker())
    var wanted = JobSubmit(kind: 5_999)
    wanted.choice = JobSubmit.Choice(agreement: 2)
    let job = try bench.submit(wanted)
    let request = try bench.request(job)
    bench.receive(
      try first.result("a", to: request, at: bench.seconds), try second.result("b", to: request, at: bench.seconds))
    #expect(bench.state(job) == .processing)
    bench.pass(seconds: 601)
    #expect(bench.state(job) == .failed && bench.picture(job).reason?.contains("no 2 of them") == true)
  }

  @Test("that is called off is taken back where it was asked, and what comes then is filed as late")
  func cancelled() throws {
    bench.isPrompt = true
    let job = try bench.text([maker])
    let request = try bench.request(job)
    bench.perform(bench.book.cancelled(job, at: bench.now))
    #expect(bench.state(job) == .cancelled && bench.tasks.contains(.withdraw(job, request.id)))
    #expect(bench.picture(job).attempts[0].isWithdrawn && bench.closed.contains(job))
    bench.receive(try maker.result("noon", to: request, at: bench.seconds))
    let picture = bench.picture(job)
    #expect(picture.state == .cancelled && picture.taken == nil && picture.diagnostics[JobPicture.lateWord] == 1)
    bench.perform(bench.book.cancelled(job, at: bench.now))
    #expect(bench.state(job) == .cancelled)
  }

  @Test("that is called off while its request waits to be published once more is taken back, and done with")
  func calledOffBetweenAttempts() throws {
    bench.isPrompt = false
    let job = try bench.text([maker])
    func settle() {
      var next = 0
      while next < bench.batches.count {
        bench.write(bench.batches[next])
        next += 1
      }
      bench.batches = []
    }
    settle()
    bench.carryOut(try #require(bench.tasks.last))
    settle()
    let publish = try #require(bench.tasks.last)
    guard case .publish(job, let request) = publish else {
      Issue.record("it is not published: \(publish)")
      return
    }
    bench.perform(bench.book.failed(publish, "the planner is away", at: bench.now))
    bench.perform(bench.book.cancelled(job, at: bench.now))
    settle()
    bench.pass(seconds: 60)
    #expect(bench.tasks.last == .withdraw(job, request))
    bench.perform(bench.book.withdrawn(job, request, at: bench.now))
    settle()
    #expect(bench.book.count == 0 && bench.closed == [job])
  }

  @Test("stays on this machine when the provider here serves its kind and nobody else is meant")
  func reach() throws {
    func isLocal(_ wanted: JobSubmit, isServedHere: Bool) throws -> Bool? {
      let job = try bench.submit(wanted, isServedHere: isServedHere)
      return bench.book.order(job)?.isLocal
    }
    var wanted = JobSubmit(kind: 5_302)
    #expect(try isLocal(wanted, isServedHere: true) == true && isLocal(wanted, isServedHere: false) == false)
    wanted.reach = .relays
    #expect(try isLocal(wanted, isServedHere: true) == false)
    wanted.reach = nil
    wanted.providers = [maker.publicKey.npub]
    #expect(try isLocal(wanted, isServedHere: true) == false)
  }

  @Test("is refused when NIP-90 does not allow it, or it cannot be")
  func refusals() throws {
    func expectRefusal(_ code: RefusalCode, _ words: String, _ change: (inout JobSubmit) -> Void) {
      var wanted = JobSubmit(kind: 5_050)
      change(&wanted)
      let refusal = #expect(throws: Refusal.self) { try bench.submit(wanted) }
      #expect(refusal?.code == code && refusal?.message.contains(words) == true, "\(refusal?.message ?? "")")
    }
    expectRefusal(.badRequest, "'providers'") { $0.providers = ["alice"] }
    expectRefusal(.badRequest, "needs --provider") { $0.encryption = .nip44 }
    expectRefusal(.badRequest, "one by one") {
      $0.encryption = .nip04
      $0.turns = .all
      $0.providers = [Maker().publicKey.npub, Maker().publicKey.npub]
    }
    expectRefusal(.badRequest, "prompt") { $0.inputs = [JobInputArgument(data: "x", type: "prompt")] }
    expectRefusal(.noSuchJob, "not here") { $0.inputs = [JobInputArgument(data: "nobody's", type: "job")] }
    expectRefusal(.badRequest, "own result") {
      $0.key = "self"
      $0.inputs = [JobInputArgument(data: "self", type: "job")]
    }
    expectRefusal(.badRequest, "needs") { $0.payment = JobSubmit.Payment(mode: .auto) }
    expectRefusal(.badRequest, "agreement") {
      $0.providers = [Maker().publicKey.npub]
      $0.choice = JobSubmit.Choice(agreement: 2)
    }
    #expect(bench.orders.isEmpty)
  }

  @Test("is one too many when as many are under way as may be")
  func full() throws {
    var limits = TrackingLimits()
    limits.openMaximum = 2
    let bench = Bench(limits: limits)
    let first = try bench.text([maker])
    _ = try bench.text([maker])
    let refusal = #expect(throws: Refusal.self) { try bench.text([maker]) }
    #expect(refusal?.code == .full && refusal?.retryAfterMilliseconds != nil)
    bench.perform(bench.book.cancelled(first, at: bench.now))
    _ = try bench.text([maker])
  }

  @Test("whose request the signer will not sign ends with his words")
  func undone() throws {
    bench.isPrompt = false
    let job = try bench.text([maker])
    bench.write(bench.batches[0])
    bench.write(bench.batches[1])
    bench.perform(bench.book.undone(job, attempt: 0, "no-such-account", at: bench.now))
    bench.isPrompt = true
    bench.write(try #require(bench.batches.last))
    #expect(bench.state(job) == .failed && bench.picture(job).reason == "no-such-account")
  }
}
