import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// The provider of jobs: requests as clients store them, answered.
  @Suite("Serving jobs")
  struct ServingTests {
    @Test("Events are counted and searched without any setting")
    func builtIn() throws {
      try ServingRig.run { rig in
        let author = SecretKey.generate()
        let notes = ["the shipyard opens", "a shipyard closes", "nothing of the sort"].map {
          UnsignedEvent(pubkey: author.publicKey, createdAt: WallClock.seconds, kind: 1, content: $0).signed(by: author)
        }
        for note in notes { #expect(try rig.store.publish(note).isResponse) }
        let count = try rig.ask(5_400, content: #"[{"kinds":[1],"authors":["\#(author.publicKey)"]}]"#)
        #expect(try rig.awaitResult(count).content.text == "3")
        let search = try rig.ask(5_302, tags: [["i", "shipyard", "text"], ["param", "max_results", "5"]])
        let found = try rig.awaitResult(search)
        #expect(found.schemaVerdict == .holds)
        let text = try #require(found.content.text)
        #expect(text.contains("\(notes[0].id)") && text.contains("\(notes[1].id)"))
        #expect(!text.contains("\(notes[2].id)"))
        let nonsense = try rig.ask(5_400, content: "how many?")
        #expect(try rig.awaitError(nonsense).contains("not JSON"))
        #expect(try ServingRig.status(rig.client).services.map(\.kind) == [5_302, 5_400])
        // The customer has an answer a moment before the ledger has it that he was told.
        try awaitSoon("all are counted") {
          let services = try ServingRig.status(rig.client).services
          return services.map(\.answered) == [1, 1] && services.map(\.failed) == [0, 1]
        }
      }
    }

    @Test("A program reads the request, says how far it is, and its output is the result")
    func program() throws {
      let script = """
        echo '{"status":"processing","message":"half"}' >&3
        echo '{"status":"partial","content":"first page"}' >&3
        cat
        """
      try ServingRig.run(script: script) { rig in
        let request = try rig.ask(tags: [["i", "hello", "text"], ["param", "lang", "es"]])
        let result = try rig.awaitResult(request)
        let value = try JSONPayload.decode(JSONValue.self, from: (result.content.text ?? "").utf8)
        #expect(value["id"] == .string("\(request.id)"))
        #expect(value["params"] == .object(["lang": .array([.string("es")])]))
        #expect(result.answer.repeatedRequest?.id == request.id)
        let feedback = try rig.feedback(request)
        #expect(feedback.contains { $0.status == .processing && $0.answer.remark == "half" })
        #expect(feedback.contains { $0.status == .partial && $0.content.text == "first page" })
        try awaitSoon("it is answered") { try rig.job(request)?.state == .answered }
      }
    }

    @Test("Accounts are served unless others are named, and nobody else")
    func customers() throws {
      try ServingRig.run(ServingRig.layout(["customers": "\"accounts\""])) { rig in
        let stranger = try rig.ask(5_400, content: "[{}]")
        // An account is known from the moment in which it is made.
        let made = try rig.client.call("signer.generate", #"{"name":"alice"}"#)
        #expect(made.isResponse, "\(made.text)")
        let signed = try rig.client.call(
          "signer.sign", #"{"account":"alice","event":{"kind":5400,"content":"[{\"kinds\":[1]}]"}}"#)
        let value = try JSONPayload.decode(SignerSigned.self, from: signed.terminal.payload).event
        let request = try Event(json: JSONPayload.encode(value))
        #expect(try rig.store.publish(request).isResponse)
        #expect(try rig.awaitResult(request).content.text == "0")
        #expect(try rig.results(stranger).isEmpty)
        #expect(try ServingRig.status(rig.client).passedOver == 1)
      }
    }

    @Test("A provider that is to answer as nobody says so in the status")
    func nobody() throws {
      try withRoost(ServingRig.layout(["account": "\"nobodyhere\""])) { roost in
        try roost.awaitWorker("dvm-provider", "says that it cannot answer") {
          $0.text?.contains("there is no account 'nobodyhere'") == true
        }
      }
    }

    @Test("What is encrypted is answered encrypted in the same way, and stands nowhere in clear", arguments: [4, 44])
    func encrypted(nip: Int) throws {
      let script = "echo '{\"status\":\"partial\",\"message\":\"canary\",\"content\":\"canary\"}' >&3; cat"
      try ServingRig.run(script: script) { rig in
        let customer = SecretKey.generate()
        let secret = #"[["i","canary","text"],["param","word","canary"]]"#
        let content = try Self.encrypt(secret, nip, customer, rig.provider)
        let request = try rig.ask(
          by: customer, tags: [["p", "\(rig.provider)"], ["encrypted"]], content: content)
        let result = try rig.awaitResult(request)
        guard case .encrypted(let text, let form) = result.content else {
          Issue.record("the result is in clear")
          return
        }
        #expect(form == (nip == 4 ? .nip04 : .nip44))
        let clear = try Self.decrypt(text, nip, customer, rig.provider)
        #expect(clear.contains("canary") && clear.contains("\"isEncrypted\":true"))
        for feedback in try rig.feedback(request) {
          #expect(feedback.answer.remark?.contains("canary") != true)
          #expect(feedback.content.text?.contains("canary") != true)
        }
        try Self.expectNowhere("canary", below: rig.roost.path("state"))
        try Self.expectNowhere("canary", below: rig.roost.path("log"))
      }
    }

    private static func encrypt(
      _ text: String, _ nip: Int, _ own: SecretKey, _ peer: PublicKey
    ) throws -> String {
      nip == 4
        ? try NIP04.encrypt(text, by: own, for: peer)
        : try NIP44.encrypt(text, with: try ConversationKey(own, peer))
    }

    private static func decrypt(
      _ text: String, _ nip: Int, _ own: SecretKey, _ peer: PublicKey
    ) throws -> String {
      nip == 4
        ? try NIP04.decrypt(text, by: own, from: peer)
        : try NIP44.decryptText(text, with: try ConversationKey(own, peer))
    }

    /// No file below a folder holds a text.
    static func expectNowhere(_ text: String, below folder: String) throws {
      let process = try SpawnedProcess("/usr/bin/grep", ["-rla", "-D", "skip", text, folder])
      #expect(try process.readAllOutput() == "")
      _ = try process.waitForEnd()
    }

    @Test("A request that was called off ends its program, and has no result")
    func cancelled() throws {
      try ServingRig.run(script: "sleep 60 & sleep 60; echo late") { rig in
        let customer = SecretKey.generate()
        let request = try rig.ask(by: customer)
        try awaitSoon("it runs") { try rig.job(request)?.state == .running && !rig.sleepers.isEmpty }
        let deletion = try JobRequest(request).cancellation(createdAt: WallClock.seconds).signed(by: customer)
        #expect(try rig.store.publish(deletion).isResponse)
        try awaitSoon("it is called off") { try rig.job(request)?.state == .cancelled }
        try awaitSoon("its program is gone") { rig.sleepers.isEmpty }
        #expect(try rig.results(request).isEmpty)
      }
    }

    @Test("A price is asked for and nothing is done before it is paid")
    func price() throws {
      try ServingRig.run(script: "echo free", ["price": "21000"]) { rig in
        let request = try rig.ask()
        try awaitSoon("it is asked for") {
          try rig.feedback(request).contains {
            $0.status == .paymentRequired && $0.answer.amount?.millisatoshis == 21_000
          }
        }
        #expect(try rig.job(request)?.state == .paymentRequired)
        #expect(try rig.results(request).isEmpty)
      }
    }

    @Test("It says of itself what it serves when it is told to, and takes it back")
    func announced() throws {
      try ServingRig.run(ServingRig.layout(["announce": "true", "name": "\"Test\""])) { rig in
        let filter = #"{"kinds":[31990],"authors":["\#(rig.provider)"]}"#
        var events: [String] = []
        try awaitSoon("it is announced") {
          events = try rig.store.query(filter)
          return !events.isEmpty
        }
        let announced = try HandlerInformation(Event(json: Array(events[0].utf8)))
        #expect(announced.jobKinds == [5_302, 5_400])
        #expect(announced.details?.name == "Test")
        try rig.roost.rewrite { layout in
          for index in layout.workers.indices { layout.workers[index].keys["announce"] = nil }
        }
        #expect(try rig.client.call("supervisor.reload").isResponse)
        try awaitSoon("it is taken back") { try rig.store.query(filter).isEmpty }
      }
    }
  }
}

extension ServingRig {
  /// Programs `sleep` that a job has started.
  var sleepers: [ProcessEntry] { roost.livingProcesses.filter { $0.name == "sleep" } + strays("sleep") }

  /// Processes of the provider's session, by name.
  private func strays(_ name: String) -> [ProcessEntry] {
    ProcessTable.entries().filter {
      $0.name == name && $0.state != .ended
        && ProcessTable.environment(of: $0.process, holds: "ROOST_WORKER=dvm-provider") == true
        && ProcessTable.descends($0.process, from: roost.daemon.pid)
    }
  }
}
