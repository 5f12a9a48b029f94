import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// One account for both sides of a job, as with whoever has only one.
  @Suite("Jobs of the account that answers them")
  struct ServingOwnTests {
    /// A provider that answers as alice, who is the only person here, and a tracker.
    private static func run(_ body: (ServingRig) throws -> Void) throws {
      var layout = ServingRig.layout(["customers": "\"accounts\"", "account": "\"alice\""])
      var tracker = Layout.Worker(name: "dvm-tracker")
      tracker.keys = [
        "role": "\"dvm-tracker\"", "program": "\"\(SpawnedProcess.builtProgram("dvm-tracker"))\"", "sandbox": "\"try\"",
      ]
      layout.workers.append(tracker)
      try withRoost(layout) { roost in
        let made = try roost.client("maker").call("signer.generate", #"{"name":"alice"}"#)
        #expect(made.isResponse, "\(made.text)")
        try body(try ServingRig(roost))
      }
    }

    @Test(
      "They are done once, in clear and encrypted, and no answer is taken for a request", arguments: EncryptedForm?.all)
    func own(form: EncryptedForm?) throws {
      try Self.run { rig in
        var submit = JobSubmit(kind: 5_400)
        submit.inputs = [JobInputArgument(data: #"[{"kinds":[1]}]"#, type: "text")]
        submit.account = "alice"
        submit.encryption = form.map { $0 == .nip04 ? .nip04 : .nip44 } ?? JobSubmit.Encryption.none
        let answer = try rig.client.call("job.submit", String(decoding: JSONPayload.encode(submit), as: UTF8.self))
        #expect(answer.isResponse, "\(answer.text)")
        let id = try JSONPayload.decode(Job.self, from: answer.terminal.payload).id
        var job: Job?
        try awaitSoon("the job has ended") {
          let shown = try rig.client.call("job.show", "{\"job\":\"\(id)\"}")
          job = try JSONPayload.decode(Job.self, from: shown.terminal.payload)
          return job?.state.isFinal == true
        }
        #expect(job?.state == .settled && job?.result?.content == "0", "\(job as Any)")
        #expect(job?.account == "\(rig.provider)" && job?.result?.provider == "\(rig.provider)")
        let request = try #require(job?.requests.first.flatMap { EventID($0.event) })
        let sent = try Event(json: Array(try #require(try rig.store.query("{\"ids\":[\"\(request)\"]}").first).utf8))
        #expect(try JobRequest(sent).terms.isEncrypted == (form != nil))
        let results = try rig.results(sent)
        #expect(results.count == 1 && results.first?.content.text == (form == nil ? "0" : nil))
        #expect(try rig.jobs().map(\.request) == ["\(request)"])
      }
    }

    @Test("A job sent while its provider restarts ends with the provider's error, and waits for nobody else")
    func restarting() throws {
      let jobs = [5_999: ["program": "[\"/bin/false\"]"]]
      var layout = ServingRig.layout(["customers": "\"accounts\""], jobs: jobs)
      var tracker = Layout.Worker(name: "dvm-tracker")
      tracker.keys = [
        "role": "\"dvm-tracker\"", "program": "\"\(SpawnedProcess.builtProgram("dvm-tracker"))\"", "sandbox": "\"try\"",
      ]
      layout.workers.append(tracker)
      try withRoost(layout) { roost in
        let maker = try roost.client("maker")
        // The signer makes one key at a time, and the provider's own may be in the making.
        try awaitSoon("an account is made") {
          try maker.call("signer.generate", #"{"name":"alice"}"#).isResponse
        }
        let rig = try ServingRig(roost)
        for round in 0..<6 {
          #expect(try rig.client.call("supervisor.restart", #"{"worker":"dvm-provider"}"#).isResponse)
          let submit = #"{"kind":5999,"inputs":[{"data":"x","type":"text"}]}"#
          let answer = try rig.client.call("job.submit", submit)
          #expect(answer.isResponse, "\(answer.text)")
          let id = try JSONPayload.decode(Job.self, from: answer.terminal.payload).id
          try awaitSoon("job \(round) has failed, long before its deadline of two minutes") {
            let shown = try rig.client.call("job.show", "{\"job\":\"\(id)\"}")
            return try JSONPayload.decode(Job.self, from: shown.terminal.payload).state == .failed
          }
        }
      }
    }
  }
}

extension EncryptedForm? {
  /// In clear, and each way to encrypt.
  fileprivate static var all: [EncryptedForm?] { [nil] + EncryptedForm.allCases.map { $0 } }
}
