import Nostr
import Testing

@testable import RelaySession

@Suite("What a relay allows")
struct RelayPolicyTests {
  private func policy(_ body: (inout RelayInformation.Limitation) -> Void) -> RelayPolicy {
    var limitation = RelayInformation.Limitation()
    body(&limitation)
    var policy = RelayPolicy()
    policy.said(limitation)
    return policy
  }

  @Test("Of a relay that says nothing the defaults are assumed, and its events have no bounds")
  func assumed() {
    let policy = RelayPolicy()
    #expect(policy.subscriptions == .init(value: 20, source: .assumed))
    #expect(policy.messageBytes == .init(value: 131_072, source: .assumed))
    #expect(policy.limit == .init(value: 5_000, source: .assumed))
    #expect(policy.defaultLimit == .init(value: 100, source: .assumed))
    #expect(!policy.requiresAuthentication && !policy.mayRefuseWrites)
    let event = EventMeasures(
      byteCount: 500_000, tagCount: 9_000, contentLength: 400_000, proofOfWork: 0, createdAt: 0)
    #expect(policy.objection(to: event, at: 2_000_000_000) == nil)
  }

  @Test("What no relay can mean is not believed, and told")
  func absurd() {
    let policy = policy {
      $0.subscriptionMaximum = 0
      $0.messageByteCountMaximum = 10
      $0.limitMaximum = 0
      $0.contentLengthMaximum = 0
      $0.tagMaximum = 0
      $0.proofOfWorkMinimum = 300
      $0.pastSecondsMaximum = 0
    }
    #expect(policy.subscriptions.value == 20 && policy.messageBytes.value == 131_072 && policy.limit.value == 5_000)
    #expect(
      policy.absurdities.map(\.member) == [
        "created_at_lower_limit", "max_content_length", "max_event_tags", "max_limit", "max_message_length",
        "max_subscriptions", "min_pow_difficulty",
      ])
    #expect(
      policy.absurdities[3].description == "limitation.max_limit is 0, which is not believed; 5000 is assumed")
    let event = EventMeasures(byteCount: 500, tagCount: 3, contentLength: 10, proofOfWork: 0, createdAt: 1)
    #expect(policy.objection(to: event, at: 2_000_000_000) == nil)
  }

  @Test(
    "Scenario 3: what a relay says is in force; a default limit is no more than the limit, and a million subscriptions are 100"
  )
  func said() {
    let policy = policy {
      $0.subscriptionMaximum = 1_000_000
      $0.messageByteCountMaximum = 16_384
      $0.limitMaximum = 50
      $0.limitDefault = 500
    }
    #expect(policy.subscriptions == .init(value: 100, source: .said))
    #expect(policy.messageBytes == .init(value: 16_384, source: .said))
    #expect(policy.limit.value == 50 && policy.defaultLimit.value == 50)
  }

  @Test("Refusals lower subscriptions to those that are open, and messages by halves down to 16 KiB")
  func learned() {
    var policy = RelayPolicy()
    policy.refusedSubscription(open: 10)
    #expect(policy.subscriptions == .init(value: 10, source: .learned))
    policy.refusedSubscription(open: 10)
    #expect(policy.subscriptions.value == 9, "each refusal lowers it")
    for _ in 0..<20 { policy.refusedSubscription(open: 0) }
    #expect(policy.subscriptions.value == 1)
    policy.refusedMessage(byteCount: 70_000)
    #expect(policy.messageBytes == .init(value: 35_000, source: .learned))
    for _ in 0..<9 { policy.refusedMessage(byteCount: 35_000) }
    #expect(policy.messageBytes.value == 16_384)
    policy.said(nil)
    #expect(policy.subscriptions.source == .learned && policy.messageBytes.source == .learned)
  }

  @Test("rate-limited doubles the time between requests up to two seconds, and time halves it again")
  func rate() {
    var policy = RelayPolicy()
    #expect(policy.spacing == 50 && !policy.isSpacingLearned)
    for _ in 0..<9 { policy.refusedRate() }
    #expect(policy.spacing == 2_000)
    for _ in 0..<9 { policy.ratePassed() }
    #expect(policy.spacing == 50 && !policy.isSpacingLearned)
  }

  @Test("An event is refused here by each bound that the relay publishes, with both numbers")
  func events() {
    let policy = policy {
      $0.messageByteCountMaximum = 2_000
      $0.tagMaximum = 5
      $0.contentLengthMaximum = 100
      $0.proofOfWorkMinimum = 10
      $0.pastSecondsMaximum = 3_600
      $0.futureSecondsMaximum = 60
    }
    let good = EventMeasures(byteCount: 1_990, tagCount: 5, contentLength: 100, proofOfWork: 10, createdAt: 996_400)
    #expect(policy.objection(to: good, at: 1_000_000) == nil)
    func objection(_ body: (inout EventMeasures) -> Void) -> String {
      var event = good
      body(&event)
      return policy.objection(to: event, at: 1_000_000) ?? ""
    }
    #expect(objection { $0.byteCount = 1_991 } == "it is a message of 2001 bytes, and the relay takes 2000")
    #expect(objection { $0.tagCount = 6 } == "it has 6 tags, and the relay takes 5")
    #expect(objection { $0.contentLength = 101 } == "its content has 101 characters, and the relay takes 100")
    #expect(objection { $0.proofOfWork = 9 } == "it has 9 bits of proof of work, and the relay wants 10")
    #expect(objection { $0.createdAt = 996_399 } == "it is 3601 s old, and the relay takes 3600 s")
    #expect(objection { $0.createdAt = 1_000_061 } == "it is dated 61 s ahead, and the relay takes 60 s")
  }

  @Test("The greatest numbers that a document can have are compared without a trap")
  func extremes() {
    let policy = policy {
      $0.pastSecondsMaximum = .max
      $0.futureSecondsMaximum = .max
      $0.messageByteCountMaximum = .max
      $0.subscriptionMaximum = .max
      $0.limitMaximum = .max
      $0.limitDefault = .max
      $0.contentLengthMaximum = .max
      $0.tagMaximum = .max
    }
    for createdAt in [0, 1_700_000_000, .max] as [Int64] {
      let event = EventMeasures(byteCount: 20, tagCount: 0, contentLength: 1, proofOfWork: 0, createdAt: createdAt)
      #expect(policy.objection(to: event, at: 1_700_000_000) == nil)
    }
  }

  @Test("A refusal of size for a small message teaches nothing, and events obey only what the document says")
  func smallMessages() {
    var policy = RelayPolicy()
    policy.refusedMessage(byteCount: 200)
    #expect(policy == RelayPolicy())
    policy.refusedMessage(byteCount: 40_000)
    let event = EventMeasures(byteCount: 30_000, tagCount: 0, contentLength: 1, proofOfWork: 0, createdAt: 1)
    #expect(policy.messageBytes.value == 20_000 && policy.objection(to: event, at: 1) == nil)
  }

  @Test(
    "Scenario 4: a refusal is about what its word says, or its text where the word is missing or used for a bound",
    arguments: [
      ("auth-required: we need to know", .authentication), ("restricted: not for you", .restricted),
      ("blocked: you", .blocked), ("blocked: too many subscriptions", .subscriptions),
      ("rate-limited: slow down", .rate), ("rate-limited: too many concurrent REQs", .subscriptions),
      ("ERROR: bad req: too many concurrent REQs", .subscriptions), ("Too many subscriptions", .subscriptions),
      ("error: message too large", .size), ("invalid: filter too large", .size), ("invalid: bad kind", .invalid),
      ("error: could not connect to the database", .failure), ("error: shutting down", .failure),
      ("mute: no", .mute), ("unsupported: search", .unsupported), ("this relay does not accept REQs", .unsupported),
      ("queries not allowed", .unsupported), ("search filter is required", .unsupported),
      ("please authenticate first", .authentication), ("payment required", .restricted), ("", .unknown),
      ("ERROR: bad req: subscription id too long", .invalid), ("invalid: limit too large", .invalid),
      ("error: too many open files", .failure), ("Max subscriptions: 50", .unknown),
      ("bye", .unknown), ("you are sending messages too fast", .rate), ("pow: 20 bits", .invalid),
    ] as [(String, RefusalClass)])
  func classes(text: String, kind: RefusalClass) {
    #expect(RefusalClass(RelayReason(text)) == kind)
  }
}
