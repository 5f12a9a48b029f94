import Addresses
import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  @Suite("Jobs") struct JobTests {
    let maker = JobMaker()

    @Test("A job goes to its relay, its provider answers, and who follows it sees it settle")
    func result() throws {
      try JobRig.run { rig in
        let job = try rig.submit(maker.job("mine", relay: rig.relay))
        #expect(job.key == "mine" && job.account.count == 64)
        let follower = try rig.roost.client()
        let follow = try follower.ask("job.follow", #"{"job":"mine"}"#)
        let request = try rig.request(job)
        try rig.await(job, "is published") { $0.state == .published && $0.requests[0].confirmedRelays == 1 }
        #expect(rig.relay.count(of: request.event) == 1)
        #expect(request.terms.relays.map(\.url.text) == [rig.relay.url])
        try rig.say(maker.feedback(.processing, to: request))
        try rig.await(job, "is processing") { $0.state == .processing }
        try rig.say(maker.feedback(.partial, to: request, content: "it is"))
        try rig.say(maker.result("noon", to: request))
        let told = try rig.await(job, "is settled") { $0.state == .settled && $0.endedAt != nil }
        #expect(told.result?.content == "noon" && told.result?.provider == maker.key.publicKey.description)
        let answer = try follower.answer(to: follow)
        let last = try JSONPayload.decode(Job.self, from: try #require(answer.parts.last).payload)
        #expect(answer.isResponse && last.state == .settled)
        // The same key is the same job, and nobody is asked twice.
        let again = try rig.submit(maker.job("mine", relay: rig.relay))
        #expect(again.id == job.id && again.state == .settled && rig.relay.received.count == 1)
        let ledger = rig.roost.directory.path + "/state/dvm-tracker/jobs.db"
        var status = stat()
        #expect(stat(ledger, &status) == 0 && status.st_mode & 0o077 == 0, "it is its owner's alone")
        let listed = try rig.client.call("job.list", #"{"states":["settled"]}"#)
        #expect(listed.parts.count == 1)
      }
    }

    @Test("A job that stays here is in the store alone, and the tracker speaks for itself where there is no account")
    func local() throws {
      try JobRig.run { rig in
        let job = try rig.submit(maker.job())
        let request = try rig.request(job)
        #expect(rig.relay.received.isEmpty && request.customer.description == job.account)
        try rig.say(maker.result("noon", to: request))
        try rig.await(job, "is settled") { $0.state == .settled }
        let own = try rig.submit(maker.job())
        #expect(own.account == job.account)
      }
    }

    @Test("A payment that is required is shown, approved once, and proven by its preimage")
    func payment() throws {
      try JobRig.run { rig in
        let job = try rig.submit(maker.job())
        let request = try rig.request(job)
        let bill = try PayableInvoice(5_000)
        try rig.say(maker.feedback(.paymentRequired, to: request, remark: "pay first", amount: bill.amount))
        let asked = try rig.await(job, "is to be paid") { $0.state == .paymentRequired }
        #expect(asked.providers.first?.invoice == bill.invoice.text && asked.providers.first?.payment == .asked)
        var reference = JobReference(job: job.id)
        #expect(try rig.ask("job.approve", reference, as: Job.self).providers.first?.payment == .approved)
        try rig.kill("dvm-tracker")
        #expect(try rig.show(job).providers.first?.payment == .approved)
        reference.preimage = SHA256.hash([1]).description
        let text = String(decoding: JSONPayload.encode(reference), as: UTF8.self)
        #expect(try rig.client.call("job.approve", text).refusal?.code == .invoiceRefused)
        reference.preimage = bill.preimage.description
        #expect(try rig.ask("job.approve", reference, as: Job.self).providers.first?.payment == .paid)
        try rig.say(maker.result("noon", to: request))
        try rig.await(job, "is settled") { $0.state == .settled && $0.result?.content == "noon" }
      }
    }

    @Test("An encrypted job is read by its provider alone, and so is the answer", arguments: EncryptedForm.allCases)
    func encrypted(form: EncryptedForm) throws {
      try JobRig.run { rig in
        var wanted = maker.job()
        wanted.encryption = form == .nip04 ? .nip04 : .nip44
        let job = try rig.submit(wanted)
        let request = try rig.request(job)
        #expect(request.terms.isEncrypted && request.terms.inputs.isEmpty && request.terms.parameters.isEmpty)
        #expect(request.content.ciphertext.flatMap { EncryptedForm(of: $0) } == form)
        let opened = try maker.opened(request)
        #expect(opened.terms.inputs == [JobInput("what is the time?", .text)])
        #expect(opened.terms.parameters == [JobParameter("lang", "en")])
        // What is not encrypted for us is nobody's answer.
        try rig.say(maker.result(try maker.seal("a lie", form, for: maker.key.publicKey), to: request))
        try rig.await(job, "has refused what it cannot read") { $0.diagnostics["cannot-be-decrypted"] == 1 }
        try rig.say(maker.result(try maker.seal("noon", form, for: request.customer), to: request))
        try rig.await(job, "is settled") { $0.state == .settled && $0.result?.content == "noon" }
        let logs = SharedFolder.bytes(ofFile: rig.roost.directory.path + "/roostd.out") ?? []
        #expect(!String(decoding: logs, as: UTF8.self).contains("what is the time"))
      }
    }

    @Test("A provider that says processing and dies ends the job in time, with a reason")
    func silence() throws {
      try JobRig.run(["result-deadline": "\"1s\""]) { rig in
        let job = try rig.submit(maker.job())
        try rig.say(maker.feedback(.processing, to: try rig.request(job)))
        let told = try rig.await(job, "is expired") { $0.state == .expired }
        #expect(told.reason?.contains("1 second") == true && told.providers.first?.state == .silent)
      }
    }

    @Test("An impostor, a double answer and one that comes too late change nothing")
    func strangers() throws {
      try JobRig.run { rig in
        let job = try rig.submit(maker.job())
        let request = try rig.request(job)
        try rig.say(JobMaker().result("a lie", to: request))
        try rig.await(job, "has refused a stranger") { $0.diagnostics["not-asked"] == 1 && $0.state == .published }
        let first = try maker.result("noon", to: request)
        try rig.say(first)
        try rig.await(job, "has a result") { $0.state == .settled }
        try rig.say(maker.result("midnight", to: request))
        let told = try rig.await(job, "has both") { $0.diagnostics["after-the-end"] == 1 }
        #expect(told.state == .settled && told.result?.event == first.id.description)
        let cancelled = try rig.submit(maker.job())
        let other = try rig.request(cancelled)
        #expect(try rig.ask("job.cancel", JobReference(job: cancelled.id), as: Job.self).state == .cancelled)
        try awaitSoon("the request is deleted") {
          try rig.client.call("store.query", #"{"filters":[{"ids":["\#(other.id)"]}]}"#).parts.isEmpty
        }
        try rig.say(maker.result("noon", to: other))
        try rig.await(cancelled, "has filed it as late") {
          $0.state == .cancelled && $0.diagnostics["after-the-end"] == 1 && $0.result == nil
        }
      }
    }

    @Test("A job that waits for another is asked when that has its result")
    func chain() throws {
      try JobRig.run { rig in
        let parent = try rig.submit(maker.job("parent"))
        var wanted = maker.job("child")
        wanted.inputs = [JobInputArgument(data: "parent", type: "job")]
        let child = try rig.submit(wanted)
        #expect(child.state == .waiting && child.dependsOn == [parent.id])
        try rig.kill("dvm-tracker")
        try rig.say(maker.result("noon", to: try rig.request(parent)))
        let request = try rig.request(child)
        #expect(request.terms.inputs == [JobInput("noon", .text)])
      }
    }

    @Test("What nobody could do is refused, and said why")
    func refusals() throws {
      try JobRig.run { rig in
        for (arguments, code) in [
          (#"{"kind":1}"#, RefusalCode.badRequest), (#"{"kind":5050,"providers":["alice"]}"#, .badRequest),
          (#"{"kind":5050,"account":"nobody"}"#, .noSuchAccount),
          (#"{"kind":5050,"inputs":[{"data":"gone","type":"job"}]}"#, .noSuchJob),
        ] {
          #expect(try rig.client.call("job.submit", arguments).refusal?.code == code, "\(arguments)")
        }
        #expect(try rig.client.call("job.show", #"{"job":"gone"}"#).refusal?.code == .noSuchJob)
        let job = try rig.submit(maker.job())
        #expect(try rig.client.call("job.approve", #"{"job":"\#(job.id)"}"#).refusal?.code == .nothingToPay)
      }
    }
  }
}
