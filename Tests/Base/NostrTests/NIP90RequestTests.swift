import Addresses
import Cryptography
import Nostr
import TestSupport
import Testing

@Suite("Requests for jobs (NIP-90), read") struct NIP90RequestTests {
  private let id = String(repeating: "ab", count: 32)

  private func read(_ tags: [[String]], kind: UInt16 = 5_002, content: String = "") throws -> JobRequest {
    try JobRequest(testEvent(kind: kind, tags: tags, content: content))
  }

  @Test("A request that says everything is read whole, without a word against it")
  func whole() throws {
    let provider = try publicTestKey(2).publicKey
    let request = try read([
      ["i", "https://a.example/x", "url"], ["i", id, "event", "wss://r.example/"], ["i", id, "job", "", "background"],
      ["i", "hello", "text", "", "prompt"], ["param", "language", "de"], ["param", "range", "300", "360"],
      ["output", "text/plain"], ["bid", "10000000"], ["relays", "wss://a.example", "wss://b.example/"],
      ["p", provider.description], ["t", "bitcoin"], ["alt", "a request"],
    ])
    #expect(request.diagnostics.isEmpty && request.isReadable && request.content == .empty)
    let terms = request.terms
    #expect(terms.inputs.map(\.form) == [.url, .event, .job, .text] && terms.kind == 5_002)
    #expect(terms.inputs[1].relay?.text == "wss://r.example" && terms.inputs[1].eventID == EventID(id))
    #expect(terms.inputs[2].marker == "background" && terms.inputs[0].eventID == nil && terms.inputs[0].marker == nil)
    #expect(terms.precedingJobs == [EventID(id)] && terms.resultKind == 6_002)
    #expect(terms.values(of: "range") == ["300", "360"] && terms.values(of: "x") == nil)
    #expect(terms.output == "text/plain" && terms.bidMillisatoshis == 10_000_000 && terms.topics == ["bitcoin"])
    #expect(terms.relays.map(\.url.host) == ["a.example", "b.example"] && terms.providers == [provider])
    #expect(request.addresses(provider) && !request.addresses(request.customer) && !terms.isEncrypted)
  }

  @Test("A request that says nothing is a request, and anybody may answer")
  func empty() throws {
    let request = try read([])
    #expect(request.diagnostics.isEmpty && request.terms == JobTerms(kind: 5_002))
    #expect(try request.addresses(publicTestKey(9).publicKey))
    for kind: UInt16 in [4_999, 6_000, 1] {
      #expect(throws: JobFault.wrongKind(kind, expected: 5_000...5_999)) { try read([], kind: kind) }
    }
  }

  @Test(
    "What is unusual is noted, and the rest is read",
    arguments: [
      (["i", "hello"], JobDiagnostic.inputWithoutType), (["i", "hello", "prompt"], .inputOfUnknownType),
      (["i", "hello", "event"], .inputIsNoEventID), (["i", "HELLO", "job"], .inputIsNoEventID),
      (["i", "x", "text", "not a relay"], .badRelay), (["i"], .tagWithoutValue), (["i", "", "text"], .tagWithoutValue),
      (["param", "language"], .parameterWithoutValue), (["param"], .tagWithoutValue), (["bid", "ten"], .badAmount),
      (["bid", "100_000"], .groupedAmount), (["bid", " 5 "], .groupedAmount), (["bid", "1,000"], .badAmount),
      (["bid", "-5"], .badAmount), (["bid", "1.5"], .badAmount), (["bid", "_5"], .badAmount),
      (["bid", "2100000000000000001"], .badAmount), (["bid", ""], .tagWithoutValue), (["relays"], .tagWithoutValue),
      (["relays", "https://x.example"], .badRelay), (["wss://relay.damus.io", "wss://dvms.f7z.io"], .tagNamedByRelay),
      (["p", "npub1x"], .badKey), (["p"], .badKey), (["t"], .tagWithoutValue),
      (["encrypted"], .encryptedTagWithoutCiphertext),
      (["i", String(repeating: "x", count: JobLimits.inputByteCountMaximum + 1), "text"], .beyondLimit),
      (["param", "x", String(repeating: "x", count: JobLimits.parameterByteCountMaximum + 1)], .beyondLimit),
      (["output", String(repeating: "x", count: JobLimits.wordByteCountMaximum + 1)], .beyondLimit),
    ])
  func unusual(tag: [String], diagnostic: JobDiagnostic) throws {
    let request = try read([tag, ["output", "text/plain"], ["t", "x"]])
    #expect(request.diagnostics.counts == [diagnostic: 1], "\(tag.map { $0.prefix(40) })")
    #expect(request.terms.topics == ["x"] && !request.terms.isEncrypted)
  }

  @Test("Digits in groups are a number, and a relay's address in place of a tag's name is a relay")
  func recovered() throws {
    let request = try read([["bid", "100_000"], ["wss://relay.damus.io", "wss://dvms.f7z.io"], ["i", "x", "prompt"]])
    #expect(request.terms.bidMillisatoshis == 100_000)
    #expect(request.terms.relays.map(\.url.host) == ["relay.damus.io", "dvms.f7z.io"])
    #expect(request.terms.inputs == [JobInput("x", type: "prompt")] && request.terms.inputs[0].form == nil)
  }

  @Test("Nothing of a request is without a bound")
  func bounds() throws {
    let request = try read(
      (0..<200).map { ["i", "\($0)", "text"] } + (0..<200).map { ["param", "\($0)", "x"] }
        + (0..<200).map { ["t", "\($0)"] } + [["relays"] + (0..<200).map { "wss://r\($0).example" }]
        + (0..<200).map { ["p", SHA256.hash([UInt8($0)]).description] }
        + [["param", "many"] + (0..<200).map { "\($0)" }])
    let terms = request.terms
    #expect(terms.inputs.count == JobLimits.inputCountMaximum && terms.topics.count == JobLimits.topicCountMaximum)
    #expect(terms.parameters.count == JobLimits.parameterCountMaximum)
    #expect(terms.relays.count == JobLimits.relayCountMaximum)
    #expect(terms.providers.count == JobLimits.providerCountMaximum)
    #expect(request.diagnostics[.beyondLimit] > 400)
  }

  // MARK: Encryption

  /// Somebody's NIP-04 and NIP-44, by their form.
  static let nip04 = "rO5hRQMrpt/fHXroZbm+IpQi1TqfpBOQFOYjTky001s=?iv=KS/hw2BJZEgyAAAAAAAAAA=="
  static let nip44 = Base64.encode([2] + [UInt8](repeating: 7, count: 98))

  @Test("Defect 11: NIP-04 and NIP-44 are told by their form, and everything else is neither")
  func forms() throws {
    #expect(EncryptedForm(of: Self.nip04) == .nip04 && EncryptedForm(of: Self.nip44) == .nip44)
    let alice = SecretKey.generate()
    let bob = SecretKey.generate().publicKey
    for text in ["x", String(repeating: "é", count: 300)] {
      #expect(try EncryptedForm(of: NIP04.encrypt(text, by: alice, for: bob)) == .nip04)
      #expect(try EncryptedForm(of: NIP44.encrypt(text, with: ConversationKey(alice, bob))) == .nip44)
    }
    let version1 = Base64.encode([1] + [UInt8](repeating: 7, count: 98))
    for text in [
      "", "hello", "?iv=", "hello?iv=world", version1, String(Self.nip44.dropLast(4)), Self.nip04 + "x",
      Self.nip44 + "!", "#" + Self.nip44, "https://x.example/a?iv=KS/hw2BJZEgyAAAAAAAAAA==", "[[\"i\",\"x\"]]",
    ] {
      #expect(EncryptedForm(of: text) == nil, "\(text)")
    }
  }

  @Test("An encrypted request is read twice: as it came, and as it was decrypted", arguments: [nip04, nip44])
  func encrypted(ciphertext: String) throws {
    let provider = try publicTestKey(2).publicKey.description
    let request = try read(
      [["p", provider], ["encrypted"], ["bid", "5"], ["relays", "wss://r.example"]], content: ciphertext)
    #expect(request.terms.isEncrypted && !request.isReadable && request.content.ciphertext == ciphertext)
    #expect(request.terms.inputs.isEmpty && request.terms.bidMillisatoshis == 5 && request.diagnostics.isEmpty)
    let read = request.decrypted(#"[["i","what?","text"],["param","max_tokens",512],["param","model","LLaMA-2"]]"#)
    #expect(read.isReadable && read.terms.isEncrypted && read.terms.inputs == [JobInput("what?", .text)])
    #expect(read.terms.values(of: "max_tokens") == ["512"] && read.terms.bidMillisatoshis == 5)
    #expect(read.event == request.event && read.diagnostics.isEmpty)
    var dumped = "\(read) \(String(reflecting: read))"
    dump(read, to: &dumped)
    #expect(!dumped.contains("what?") && !"\(read.content)".contains(ciphertext))
  }

  @Test("Tags without brackets around them, as the descriptions of kinds show them, are read as well")
  func bare() throws {
    let request = try read([["p", id], ["encrypted"]], content: Self.nip04)
    let read = request.decrypted(#" [ "i", "{\"kind\":1}", "text" ], ["param", "relays", "wss://nos.lol"] "#)
    #expect(read.terms.inputs.count == 1 && read.terms.values(of: "relays") == ["wss://nos.lol"])
    for text in ["", "hello", "{}", "[1]", "[[\"i\"", "[\"i\"]]", "[[\"i\",\"x\"]],"] {
      let read = request.decrypted(text)
      #expect(read.diagnostics[.decryptedIsNoTagList] == 1 && read.terms.inputs.isEmpty, "\(text)")
    }
  }

  @Test("Defect 3: tags that a library hides with the inputs are found, and noted")
  func hiddenTags() throws {
    let request = try read([["p", id], ["encrypted"], ["t", "own"]], content: Self.nip04)
    let read = request.decrypted(
      #"[["i","x","text"],["output","text/plain"],["relays","wss://r.example"],["bid","7"],["t","hidden"]]"#)
    #expect(read.diagnostics.counts == [.otherTagsEncrypted: 1])
    #expect(read.terms.output == "text/plain" && read.terms.bidMillisatoshis == 7 && read.terms.topics == ["own"])
    #expect(read.terms.relays.map(\.url.host) == ["r.example"])
  }

  @Test("What is unusual about encryption is noted")
  func unusualEncryption() throws {
    let tagless = try read([["p", id]], content: Self.nip04)
    #expect(tagless.terms.isEncrypted && tagless.diagnostics.counts == [.encryptedTagMissing: 1])
    let forNobody = try read([["encrypted"]], content: Self.nip44)
    #expect(forNobody.diagnostics.counts == [.encryptedForOthers: 1])
    let halfClear = try read([["p", id], ["encrypted"], ["param", "x", "y"]], content: Self.nip44)
    #expect(halfClear.diagnostics.counts == [.clearBesideEncrypted: 1])
    #expect(halfClear.decrypted("[[\"param\",\"z\",\"y\"]]").terms.parameters.map(\.name) == ["x", "z"])
    let clear = try read([["p", id], ["encrypted"], ["i", "x", "text"]], content: "a text")
    #expect(!clear.terms.isEncrypted && clear.isReadable && clear.content == .clear("a text"))
    #expect(clear.decrypted("[]") == clear)
  }

  // MARK: Cancelling

  @Test("A request is taken back by its customer, and by nobody else")
  func cancelled() throws {
    let key = try publicTestKey()
    let request = try read([])
    let template = request.cancellation(createdAt: 2_000, reason: "no longer needed")
    #expect(template.kind == 5 && template.tags == [["e", request.id.description], ["k", "5002"]])
    #expect(try request.isCancelled(by: DeletionRequest(template.signed(by: key))))
    let others = try testEvent(kind: 5, tags: template.tags, key: 2)
    #expect(try !request.isCancelled(by: DeletionRequest(others)))
    #expect(try !request.isCancelled(by: DeletionRequest(testEvent(kind: 5, tags: [["e", id]]))))
  }
}
