import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Jobs that are done by a provider which nobody here wrote the library of, and which knows Roost as a relay only.
  @Suite(
    "Jobs done by clients of the local relay",
    .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct JobPeerTests {
    @Test(
      "A job for a client of the local relay is done, whether or not it is to stay here, and its result printed",
      arguments: [["--local"], [], ["--relay", "URL"]])
    func plain(flags: [String]) throws {
      try JobPeerRig.run { rig in
        let peer = try rig.provider("plain")
        let job = try rig.submit(to: peer, with: flags.map { $0 == "URL" ? rig.url : $0 })
        #expect(try rig.command("watch", job.id).contains("noon"))
        let told = try rig.jobs.show(job)
        #expect(told.state == .settled && told.result?.provider == peer.key && told.diagnostics.isEmpty, "\(told)")
        #expect(try rig.command("show", job.id, "--result") == "noon\n")
      }
    }

    @Test("A part of the result is shown while its provider works on the rest")
    func partial() throws {
      try JobPeerRig.run { rig in
        let peer = try rig.provider("partial")
        let job = try rig.submit(to: peer)
        let working = try rig.jobs.await(job, "has a part") { $0.providers.first?.partial == "it is" }
        #expect(working.state == .processing && working.providers.first?.state == .partial && working.result == nil)
        try peer.goOn()
        let told = try rig.jobs.await(job, "is settled") { $0.state == .settled }
        #expect(told.result?.content == "noon" && told.diagnostics.isEmpty, "\(told)")
      }
    }

    @Test("An encrypted job is opened by its provider, whose every word is encrypted", arguments: ["nip04", "nip44"])
    func encrypted(form: String) throws {
      try JobPeerRig.run { rig in
        let peer = try rig.provider(form)
        let job = try rig.submit(to: peer, with: ["--local", "--encrypt", form])
        let opened = try peer.said("opened")
        #expect(opened == #"[["i","what is the time?","text"],["param","lang","en"]]"#)
        try rig.jobs.await(job, "has a part") { $0.providers.first?.partial == "it is" }
        try peer.goOn()
        let told = try rig.jobs.await(job, "is settled") { $0.state == .settled }
        #expect(told.result?.content == "noon" && told.diagnostics.isEmpty, "\(told)")
      }
    }

    @Test("A provider that wants to be paid is, once, when that was approved, and then delivers")
    func paid() throws {
      try JobPeerRig.run { rig in
        let bill = try PayableInvoice(5_000)
        let peer = try rig.provider("paid", bill: bill)
        let job = try rig.submit(to: peer)
        let asked = try rig.jobs.await(job, "is to be paid") { $0.state == .paymentRequired }
        #expect(asked.providers.first?.invoice == bill.invoice.text && asked.providers.first?.amount == 5_000)
        #expect(asked.providers.first?.payment == .asked && asked.providers.first?.message == "pay first")
        try rig.pay(job, bill, to: peer)
        let told = try rig.jobs.await(job, "is settled") { $0.state == .settled }
        #expect(told.result?.content == "noon" && told.providers.first?.payment == .paid, "\(told)")
        #expect(told.reason == nil && told.diagnostics.isEmpty, "\(told)")
      }
    }

    @Test("A provider that says processing and dies does not hold a job for ever")
    func dies() throws {
      try JobPeerRig.run(["result-deadline": "\"1s\""]) { rig in
        let peer = try rig.provider("dies")
        let job = try rig.submit(to: peer)
        #expect(try peer.waitForEnd() == .signalled(SIGKILL))
        let told = try rig.jobs.await(job, "is expired") { $0.state == .expired }
        #expect(told.reason == "its provider has sent no result within 1 second")
        #expect(told.providers.first?.state == .silent && told.result == nil)
      }
    }

    @Test(
      "Providers whose relay died come again by themselves: one brings what it has worked on, one learns what it missed",
      arguments: [false, true])
    func reconnecting(isEverything: Bool) throws {
      try JobPeerRig.run { rig in
        let working = try rig.provider("late")
        let idle = try rig.provider("plain")
        let job = try rig.submit(to: working)
        try rig.jobs.await(job, "is processing") { $0.state == .processing }
        if isEverything { try rig.jobs.killDaemon(withWorkers: true) } else { try rig.jobs.kill("local-relay") }
        try working.goOn()
        let other = try rig.jobs.submit(rig.wanted(of: idle))
        for (job, peer) in [(job, working), (other, idle)] {
          let told = try rig.jobs.await(job, "is settled", within: 60) { $0.state == .settled }
          #expect(told.result?.provider == peer.key && told.diagnostics.isEmpty, "\(told)")
        }
      }
    }

    @Test("When one provider has died the next is asked, and does it")
    func next() throws {
      try JobPeerRig.run(["result-deadline": "\"1s\""]) { rig in
        let dying = try rig.provider("dies")
        let peer = try rig.provider("plain")
        let job = try rig.submit(to: dying, peer, with: ["--local", "--one-by-one"])
        let told = try rig.jobs.await(job, "is settled") { $0.state == .settled }
        #expect(told.result?.provider == peer.key && told.requests.count == 2, "\(told)")
        #expect(told.providers.first { $0.provider == dying.key }?.state == .silent)
      }
    }

    @Test(
      "Of two that race the one that lies about the request, the kind or the form is found out, though it was first",
      arguments: [("form", "not-of-its-kinds-form"), ("kind", "of-another-kind"), ("request", "of-another-request")])
    func lie(behaviour: String, word: String) throws {
      try JobPeerRig.run { rig in
        let liar = try rig.provider(behaviour)
        let peer = try rig.provider("partial")
        let job = try rig.submit(to: liar, peer, kind: 5_302)
        try rig.jobs.await(job, "has found the liar out") { $0.diagnostics[word] == 1 }
        try peer.goOn()
        let told = try rig.jobs.await(job, "is settled") { $0.state == .settled }
        #expect(told.result?.provider == peer.key && told.providers.count { $0.results > 0 } == 1, "\(told)")
      }
    }

    @Test("A liar whose result looks right is outvoted where two must agree")
    func outvoted() throws {
      try JobPeerRig.run { rig in
        let liar = try rig.provider("lie")
        let peers = [try rig.provider("partial"), try rig.provider("plain")]
        var wanted = rig.wanted(of: liar, peers[0], peers[1])
        wanted.choice = JobSubmit.Choice(agreement: 2)
        let job = try rig.jobs.submit(wanted)
        let split = try rig.jobs.await(job, "has two answers") { $0.providers.count { $0.results == 1 } == 2 }
        #expect(split.result == nil && split.state == .processing)
        try peers[0].goOn()
        let told = try rig.jobs.await(job, "is settled") { $0.state == .settled }
        #expect(told.result?.content == "noon" && told.diagnostics == ["differs-from-the-result": 1], "\(told)")
      }
    }

    @Test("An impostor is neither believed nor paid, by its own name or by another's")
    func impostor() throws {
      try JobPeerRig.run { rig in
        let bill = try PayableInvoice(5_000)
        let impostor = try rig.provider("impostor", bill: bill)
        let peer = try rig.provider("late")
        let job = try rig.submit(to: peer)
        #expect(try impostor.said("refused").contains("signature"), "the relay takes no forgery")
        let seen = try rig.jobs.await(job, "knows both lies") {
          $0.diagnostics["not-asked"] == 2 && $0.state == .processing
        }
        #expect(seen.providers.map(\.provider) == [peer.key] && seen.providers.first?.payment == nil, "\(seen)")
        let refused = try rig.roost.command(["job", "approve", job.id])
        #expect(refused.status == .exited(1) && refused.output.contains("no provider"), "\(refused.output)")
        try peer.goOn()
        let told = try rig.jobs.await(job, "is settled") { $0.state == .settled }
        #expect(told.result?.content == "noon" && told.result?.provider == peer.key, "\(told)")
      }
    }

    @Test("A result that comes twice is one, and another one of the same provider comes too late")
    func double() throws {
      try JobPeerRig.run { rig in
        let peer = try rig.provider("double")
        let job = try rig.submit(to: peer)
        let settled = try rig.jobs.await(job, "is settled") { $0.state == .settled && $0.endedAt != nil }
        try peer.goOn()
        try peer.said("sent other")
        let told = try rig.jobs.await(job, "has the other one") { !$0.diagnostics.isEmpty }
        #expect(told.diagnostics == ["after-the-end": 1] && told.providers.first?.results == 1, "\(told)")
        #expect(told.result == settled.result && told.result?.content == "noon")
      }
    }

    @Test("A provider learns that its job was called off, and what it sends all the same changes nothing")
    func cancelled() throws {
      try JobPeerRig.run { rig in
        let peer = try rig.provider("late")
        let job = try rig.submit(to: peer)
        let request = try peer.said("request")
        try rig.jobs.await(job, "is processing") { $0.state == .processing }
        try rig.command("cancel", job.id)
        #expect(try peer.said("deleted") == request)
        try peer.goOn()
        try peer.said("sent result")
        let told = try rig.jobs.await(job, "has filed it as late") { $0.diagnostics == ["after-the-end": 1] }
        #expect(told.state == .cancelled && told.result == nil, "\(told)")
      }
    }
  }
}
