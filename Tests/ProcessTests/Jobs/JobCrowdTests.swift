import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Jobs whose way is not free: too many at once, an account that is locked, no relay.
  @Suite("Jobs that have to wait")
  struct JobCrowdTests {
    let maker = JobMaker()

    private func text(_ submit: JobSubmit) -> String {
      String(decoding: JSONPayload.encode(submit), as: UTF8.self)
    }

    @Test("Hundreds of jobs at once are all accepted and asked: the signer's bounds are not their submitter's matter")
    func crowd() throws {
      try JobRig.run { rig in
        var waiting: [UInt64] = []
        for number in 0..<300 {
          var job = maker.job()
          job.inputs = [JobInputArgument(data: "question \(number)", type: "text")]
          waiting.append(try rig.client.ask("job.submit", text(job)))
          guard waiting.count == 100 else { continue }
          for id in waiting {
            let answer = try rig.client.answer(to: id)
            #expect(answer.isResponse, "\(String(describing: answer.refusal))")
          }
          waiting = []
        }
        let client = rig.client
        try awaitSoon("all are asked", within: 60) {
          let answer = try client.call("job.status")
          return try JSONPayload.decode(TrackingStatus.self, from: answer.terminal.payload).jobs == ["published": 300]
        }
      }
    }

    @Test("A job of a locked account says so, and goes on when that is unlocked")
    func locked() throws {
      try JobRig.run { rig in
        let signer = SignerRig(roost: rig.roost, client: rig.client)
        try signer.generate("alice", "correct horse")
        #expect(try rig.client.call("signer.lock", #"{"account":"alice"}"#).isResponse)
        var wanted = maker.job()
        wanted.account = "alice"
        let job = try rig.submit(wanted)
        let told = try rig.await(job, "says what it waits for") { $0.reason != nil }
        #expect(told.state == .drafted)
        #expect(told.reason?.hasPrefix("its account alice is locked: roost key unlock alice;") == true, "\(told)")
        #expect(told.reason?.contains("the job is kept meanwhile, for ") == true, "\(told)")
        try rig.kill("dvm-tracker")
        try rig.await(job, "says so after a death") { $0.reason == told.reason }
        #expect(try signer.unlock("alice", "correct horse") == nil)
        let asked = try rig.await(job, "is asked") { $0.state == .published }
        #expect(asked.reason == nil)
      }
    }

    @Test("An account that is made a moment before its first job is known")
    func news() throws {
      try JobRig.run { rig in
        let own = try rig.submit(maker.job())
        let alice = try SignerRig(roost: rig.roost, client: rig.client).generate("alice")
        let job = try rig.submit(maker.job())
        #expect(job.account == alice.publicKey && own.account != alice.publicKey)
      }
    }

    @Test("A job that is for relays says that none has it")
    func unseen() throws {
      try JobRig.run { rig in
        var wanted = maker.job()
        (wanted.providers, wanted.reach) = (nil, .relays)
        let job = try rig.submit(wanted)
        let told = try rig.await(job, "is in the store") { $0.requests.first?.isStored == true && $0.reason != nil }
        #expect(told.reason?.hasPrefix("no relay has its request") == true, "\(told)")
        let local = try rig.submit(maker.job())
        #expect(try rig.await(local, "is in the store") { $0.state == .published }.reason == nil)
      }
    }

    @Test("A job can be told, however much strangers write of it")
    func talkers() throws {
      try JobRig.run { rig in
        var wanted = maker.job()
        wanted.providers = nil
        let job = try rig.submit(wanted)
        let request = try rig.request(job)
        let text = String(repeating: "\u{1}", count: 16 << 10)
        for _ in 0..<16 { try rig.say(try JobMaker().feedback(.partial, to: request, content: text)) }
        let told = try rig.await(job, "is told with all of them") { $0.providers.count == 16 }
        #expect(told.providers.allSatisfy { $0.partial?.isEmpty == false })
        let list = try rig.client.call("job.list")
        #expect(list.isResponse && list.parts.count == 1)
      }
    }

    @Test("A secret key is refused in one line before anybody is asked, unless it is meant")
    func secrets() throws {
      try JobRig.run { rig in
        var wanted = maker.job()
        wanted.inputs = [JobInputArgument(data: "look: nsec1" + String(repeating: "q", count: 58), type: "text")]
        let refusal = try #require(try rig.client.call("job.submit", text(wanted)).refusal)
        #expect(refusal.code == .badRequest && refusal.outcome == .notStarted)
        #expect(refusal.message.contains("'inputs[0]' holds a secret key") && !refusal.message.contains("\n"))
        wanted.allowSecrets = true
        try rig.await(try rig.submit(wanted), "is asked") { $0.state == .published }
      }
    }
  }
}
