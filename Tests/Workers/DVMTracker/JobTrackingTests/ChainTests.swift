import Contracts
import Cryptography
import Frames
@testable import JobTracking
import Nostr
import Testing

@Suite("Jobs that wait for jobs") struct ChainTests {
  let bench = Bench()
  let maker = Maker()

  private func child(of parent: String, key: String? = nil) throws -> JobID {
    var wanted = JobSubmit(kind: 5_001)
    wanted.key = key
    wanted.inputs = [JobInputArgument(data: parent, type: "job")]
    wanted.providers = [maker.publicKey.description]
    return try bench.submit(wanted)
  }

  @Test("are asked for when the result is accepted, and name its request")
  func fed() throws {
    let parent = try bench.text([maker], key: "parent")
    let child = try child(of: "parent")
    let grandchild = try self.child(of: child.description)
    #expect(bench.state(child) == .waiting && bench.picture(child).requests.isEmpty)
    let request = try bench.request(parent)
    bench.receive(try maker.result("noon", to: request, at: bench.seconds))
    #expect(bench.state(child) == .published && bench.state(grandchild) == .waiting)
    #expect(try bench.request(child).terms.inputs == [JobInput(request.id.description, .job)])
    bench.receive(try maker.result("short", to: bench.request(child), at: bench.seconds))
    #expect(bench.state(grandchild) == .published)
  }

  @Test("go on after a death, whether it is before or after the end of what they wait for")
  func death() throws {
    let parent = try bench.text([maker], key: "parent")
    let child = try child(of: "parent")
    bench.die()
    #expect(bench.state(child) == .waiting)
    // The end is on the disk, and the process dies before it does what follows.
    bench.isPrompt = false
    bench.receive(try maker.result("noon", to: bench.request(parent), at: bench.seconds))
    bench.keep(try #require(bench.batches.last))
    bench.isPrompt = true
    bench.die()
    #expect(bench.state(parent) == .settled && bench.state(child) == .published)
  }

  @Test("of which the first has ended long ago are asked for at once")
  func ended() throws {
    let parent = try bench.text([maker], key: "parent")
    bench.receive(try maker.result("noon", to: bench.request(parent), at: bench.seconds))
    #expect(bench.closed.contains(parent))
    #expect(bench.state(try child(of: "parent")) == .published)
    #expect(bench.state(try child(of: try bench.request(parent).id.description)) == .published)
  }

  @Test("fail with what they wait for, and are called off with it, all the way down")
  func failure() throws {
    let failing = try bench.text([maker])
    let child = try child(of: failing.description)
    let grandchild = try self.child(of: child.description)
    bench.receive(try maker.feedback(.error, to: bench.request(failing), at: bench.seconds, remark: "no"))
    #expect(bench.state(child) == .failed && bench.picture(child).reason?.contains("cannot do it") == true)
    #expect(bench.state(grandchild) == .failed)
    let cancelled = try bench.text([maker])
    let other = try self.child(of: cancelled.description)
    bench.perform(bench.book.cancelled(cancelled, at: bench.now))
    #expect(bench.state(other) == .cancelled)
    #expect(bench.book.count == 0)
  }

  @Test("end with the reason of the first, and how far up that is, however long the chain", arguments: [true, false])
  func longChain(isCancelled: Bool) throws {
    let first = try bench.text([maker])
    var jobs = [first]
    for _ in 0..<63 { jobs.append(try child(of: try #require(jobs.last).description)) }
    if isCancelled {
      bench.perform(bench.book.cancelled(first, at: bench.now))
    } else {
      bench.receive(try maker.feedback(.error, to: bench.request(first), at: bench.seconds, remark: "no"))
    }
    let end = isCancelled ? "was cancelled: it was called off" : "has failed: its provider cannot do it: \"no\""
    #expect(bench.picture(jobs[1]).reason == "the job \(first) that it needs \(end)")
    #expect(bench.picture(jobs[2]).reason == "the job \(first) that it needs, 2 jobs further up, \(end)")
    #expect(bench.picture(jobs[63]).reason == "the job \(first) that it needs, 63 jobs further up, \(end)")
    #expect(bench.state(jobs[63]) == (isCancelled ? .cancelled : .failed))
  }

  @Test("end with a short reason also behind one that was written from link to link")
  func earlierReason() {
    let (first, last) = (JobID(1), JobID(3))
    let earlier = "the job \(JobID(2)) that it needs was cancelled: the job \(first) that it needs was cancelled: so"
    let reason = ChainReason(last, .cancelled, earlier)
    #expect(reason.text == "the job \(first) that it needs, 3 jobs further up, was cancelled: so")
    #expect(ChainReason(reading: reason.text) == reason)
    #expect(ChainReason(reading: "the job of its dreams") == nil && ChainReason(reading: "") == nil)
    #expect(ChainReason(last, .expired, nil).text == "the job \(last) that it needs has expired")
  }

  @Test("cannot wait for themselves, for what is not there, or too deep; somebody else's request is no wait")
  func refused() throws {
    #expect(throws: Refusal.self) { try child(of: "me", key: "me") }
    #expect(throws: Refusal.self) { try child(of: "0123456789abcdef") }
    let foreign = try child(of: String(repeating: "a", count: 64))
    #expect(bench.state(foreign) == .published)
    bench.book.limits.chainDepthMaximum = 3
    let first = try bench.text([maker])
    let second = try child(of: first.description)
    let third = try child(of: second.description)
    let refusal = #expect(throws: Refusal.self) { try child(of: third.description) }
    #expect(refusal?.message.contains("deep") == true)
  }

  @Test("fail with one that could not be written down")
  func unwritten() throws {
    bench.isPrompt = false
    _ = try bench.text([maker], key: "parent")
    let child = try child(of: "parent")
    bench.isDiskGood = false
    bench.write(try #require(bench.batches.last))
    (bench.isDiskGood, bench.isPrompt) = (true, true)
    bench.pass(seconds: 5)
    #expect(bench.state(child) == .failed)
  }

  @Test("and are refused leave nothing of the others in memory")
  func forgotten() throws {
    let parent = try bench.text([maker], key: "parent")
    bench.receive(try maker.result("noon", to: bench.request(parent), at: bench.seconds))
    var wanted = JobSubmit(kind: 5_001)
    wanted.inputs = [JobInputArgument(data: "parent", type: "job")]
    wanted.encryption = .nip44
    #expect(throws: Refusal.self) { try bench.submit(wanted) }
    #expect(bench.book.unknownDependencies(of: wanted) == [parent])
  }
}
