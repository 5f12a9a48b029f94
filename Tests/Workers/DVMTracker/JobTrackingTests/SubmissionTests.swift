import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

@Suite("Jobs") struct SubmissionTests {
  let bench = Bench()
  let maker = Maker()

  @Test("that are the same, within a second, are dated ahead and not back, and beyond that wait")
  func dates() throws {
    let jobs = try (0...RequestDate.aheadMaximum + 1).map { _ in try bench.text([maker]) }
    let requests = jobs.compactMap { bench.picture($0).requests.first }
    #expect(requests.map(\.createdAt) == Array(RequestDate.candidates(from: bench.seconds)))
    #expect(Set(requests.map(\.id)).count == jobs.count - 1)
    let last = try #require(jobs.last)
    #expect(bench.state(last) == .drafted && bench.picture(last).requests.isEmpty)
    bench.pass(seconds: 1)
    #expect(bench.state(last) == .published)
  }

  @Test("whose provider has said something before its result are not told with it any more")
  func stale() throws {
    let job = try bench.text([maker])
    let request = try bench.request(job)
    bench.receive(try maker.feedback(.partial, to: request, at: bench.seconds, remark: "first", content: "it is"))
    #expect(try bench.pair(job, maker).message == "first")
    bench.receive(try maker.result("noon", to: request, at: bench.seconds))
    #expect(try bench.pair(job, maker).message == nil)
    let thanked = try bench.text([maker])
    let amount = JobAmount(millisatoshis: 5)
    bench.receive(try maker.result("noon", to: bench.request(thanked), at: bench.seconds, amount: amount))
    bench.receive(try maker.feedback(.success, to: bench.request(thanked), at: bench.seconds + 1, remark: "thanks"))
    #expect(try bench.pair(thanked, maker).message == "thanks")
  }

  @Test("that name the provider of this machine stay here, as those that name nobody, also encrypted")
  func host() throws {
    var wanted = JobSubmit(kind: 5_050)
    wanted.inputs = [JobInputArgument(data: "what is the time?", type: "text")]
    wanted.providers = [maker.publicKey.npub]
    let named = try bench.submit(wanted, isServedHere: true, host: maker)
    #expect(bench.book.order(named)?.isLocal == true)
    wanted.relays = ["wss://relay.example"]
    let published = try bench.submit(wanted, isServedHere: true, host: maker)
    #expect(bench.book.order(published)?.isLocal == false)
    (wanted.relays, wanted.providers) = (nil, [Maker().publicKey.npub])
    let foreign = try bench.submit(wanted, isServedHere: true, host: maker)
    #expect(bench.book.order(foreign)?.isLocal == false)
    (wanted.providers, wanted.encryption) = (nil, .auto)
    let sealed = try bench.submit(wanted, isServedHere: true, host: maker)
    let order = try #require(bench.book.order(sealed))
    #expect(order.isLocal && order.isEncrypted && order.providers == [maker.publicKey])
    let refusal = #expect(throws: Refusal.self) { try bench.submit(wanted) }
    #expect(refusal?.message.hasPrefix("an encrypted job needs --provider") == true)
  }
}
